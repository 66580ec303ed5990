//===- Refusal.h - Why a write was not fused --------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_REMARKS_REFUSAL_H
#define KVFUSE_REMARKS_REFUSAL_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/Twine.h"
#include <optional>

#include "kvfuse/Remarks/Refusals.h.inc"

namespace kvfuse {

/// Category of all of kvfuse's remarks (`--remarks-filter=kvfuse`).
inline constexpr llvm::StringLiteral kRemarkCategory = "kvfuse";

/// Name of the remark for each site that was fused; its metric `Destinations`
/// is the number of caches written by that one kernel, and `Outlined` the
/// function that holds it.
inline constexpr llvm::StringLiteral kFusedRemark = "fused";

/// Name of the remark for a fused write, in the function that holds it, whose
/// version is picked at run time; `remark::reason` lists the conditions, with
/// "; " between them.
inline constexpr llvm::StringLiteral kGuardedRemark = "guarded";

/// Attribute of a write that was refused: the name of the reason.
inline constexpr llvm::StringLiteral kRefusedAttr = "kv.refused";

/// Attribute of an operation whose results share no memory with its operands.
inline constexpr llvm::StringLiteral kNewResultsAttr = "kv.new_results";

/// Is this a candidate that was missed, rather than no candidate at all?
bool isMissed(Refusal refusal);

/// Emits the remark of a refusal at `op`, the write: what was `found`, what to
/// `suggest`, and where the `cause` stands. The only record there is.
void emitRefusal(mlir::Operation *op, Refusal refusal, const llvm::Twine &found,
                 const llvm::Twine &suggest = "",
                 std::optional<mlir::Location> cause = std::nullopt);

} // namespace kvfuse

#endif // KVFUSE_REMARKS_REFUSAL_H
