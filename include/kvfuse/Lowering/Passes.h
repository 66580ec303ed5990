//===- Passes.h - Lowering: buffers to kernels -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_PASSES_H
#define KVFUSE_LOWERING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kvfuse {

/// Attribute of a kernel whose block x has tokens: how many a thread has.
/// Without it, the threads of all blocks walk over the elements of its buffers,
/// in any number.
inline constexpr llvm::StringLiteral kTokenKernelAttr = "kv.token_kernel";

/// Attribute of a launch that is left to another kernel where there are fewer
/// tokens than this.
inline constexpr llvm::StringLiteral kMinTokensAttr = "kv.min_tokens";

/// Attribute of a function that is only declared, which may fail: then it
/// returns a message.
inline constexpr llvm::StringLiteral kMayFailAttr = "kv.may_fail";

/// Attribute of what stands behind the checks of a function (kv-hoist-checks):
/// the function.
inline constexpr llvm::StringLiteral kRestOfAttr = "kv.rest_of";

/// Attribute of the runtime's handle of a kernel.
inline constexpr llvm::StringLiteral kKernelHandleAttr = "kv.kernel";

#define GEN_PASS_DECL
#include "kvfuse/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kvfuse/Lowering/Passes.h.inc"

} // namespace kvfuse

#endif // KVFUSE_LOWERING_PASSES_H
