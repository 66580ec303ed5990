//===- TypeCasts.h - The same version in another type -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_TYPECASTS_H
#define KVFUSE_FUSION_TYPECASTS_H

#include "mlir/IR/Operation.h"

namespace kvfuse {

/// Does `op` only change the type of its operand: `tensor.cast`, or a
/// conversion between Torch and builtin tensors?
bool isTypeCast(mlir::Operation *op);

/// The first value of the same version: `version` without type casts.
mlir::Value stripTypeCasts(mlir::Value version);

} // namespace kvfuse

#endif // KVFUSE_FUSION_TYPECASTS_H
