//===- SizeChecks.h - Sizes that a write needs to be equal ------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_TRANSFORMS_SIZECHECKS_H
#define KVFUSE_DIALECT_KV_TRANSFORMS_SIZECHECKS_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::kv {

/// SX10: an assert that two sizes agree, unless that is plain to see.
void createSizeCheck(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                     const Twine &message);

/// SX10: asserts for the sizes of `write`, on memrefs, that the verifier could
/// not compare: those of index tensors, mask, values and caches.
void createSizeChecks(ImplicitLocOpBuilder &b, WriteOp write);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_TRANSFORMS_SIZECHECKS_H
