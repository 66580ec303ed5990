//===- Passes.h - Fusion: chains to fused writes -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_PASSES_H
#define KVFUSE_FUSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kvfuse {

/// Name of the nested module that holds what is compiled.
inline constexpr llvm::StringLiteral kWritesModule = "kvfuse";

/// On a call of an outlined function: the numbers of the operands that it
/// writes in place.
inline constexpr llvm::StringLiteral kWrittenAttr = "kv.written";

/// On the same call: for each result the number of the operand that holds it
/// in memory afterwards, -1 where none is the whole of it.
inline constexpr llvm::StringLiteral kHoldersAttr = "kv.holders";

/// On a function: the names in the source of writes that were removed, because
/// earlier ones have put their rows there.
inline constexpr llvm::StringLiteral kRepeatedAttr = "kv.repeated";

#define GEN_PASS_DECL
#include "kvfuse/Fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kvfuse/Fusion/Passes.h.inc"

} // namespace kvfuse

#endif // KVFUSE_FUSION_PASSES_H
