//===- Passes.h - Passes of the kv dialect ----------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_TRANSFORMS_PASSES_H
#define KVFUSE_DIALECT_KV_TRANSFORMS_PASSES_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Pass/Pass.h"

namespace mlir::kv {

#define GEN_PASS_DECL
#include "kvfuse/Dialect/KV/Transforms/Passes.h.inc"

/// Replaces `write` by one write per destination, in program order (valid,
/// since destinations are disjoint by SM2). Returns the new writes.
SmallVector<WriteOp> decomposeIntoSingleWrites(RewriterBase &rewriter,
                                               WriteOp write);

/// Replaces the single tensor write `write` by the chain of elementwise
/// operations and a scatter that computes the same bytes.
void decomposeIntoChain(RewriterBase &rewriter, WriteOp write);

#define GEN_PASS_REGISTRATION
#include "kvfuse/Dialect/KV/Transforms/Passes.h.inc"

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_TRANSFORMS_PASSES_H
