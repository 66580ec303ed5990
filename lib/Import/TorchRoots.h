//===- TorchRoots.h - What indices are computed from ------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHROOTS_H
#define KVFUSE_LIB_IMPORT_TORCHROOTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse::torch {

/// Does every element of the result come from the elements of the operands at
/// the same place, by arithmetic on indices?
bool isArithmetic(mlir::Operation *op);

/// The tensor whose elements `op` repeats or puts into another shape, or null.
mlir::Value getMovedTensor(mlir::Operation *op);

/// Is `value` known without any slot: a constant or an iota?
bool isConstantOrIota(mlir::Value value);

/// Adds to `roots` what `index`, which is converted, is computed from.
void getRoots(mlir::Value index, llvm::SetVector<mlir::Value> &roots);

/// Is no element of `index`, which is converted, negative as long as none of
/// its roots is?
bool keepsSign(mlir::Value index);

/// Is the only root of `index` the slot, rather than a part of it such as a
/// page that is multiplied by the page size?
bool isComputedFromSlot(mlir::Value index);

/// Do `indices`, which are converted, name neighbours one after the other: are
/// they constants and at least one iota, counted from some start?
bool areRanges(mlir::ValueRange indices);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHROOTS_H
