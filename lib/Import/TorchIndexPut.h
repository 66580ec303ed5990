//===- TorchIndexPut.h - What an index_put writes where ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHINDEXPUT_H
#define KVFUSE_LIB_IMPORT_TORCHINDEXPUT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallBitVector.h"

namespace kvfuse::torch {

bool isIndexPut(mlir::Operation *op);

/// An index_put as kv.write says it; the values are torch's.
struct IndexPut {
  mlir::Value cache;
  mlir::Value values;
  llvm::SmallVector<mlir::Value> indices;
  /// The shape of the token grid: that of the indices, repeated along each
  /// other.
  llvm::SmallVector<int64_t> grid;
  mlir::AffineMap map;
  mlir::AffineMap order;
  /// Dimensions of the values of size 1 that torch repeats; `order` leaves
  /// them out.
  llvm::SmallBitVector repeatedDims;
};

/// Reads the index_put `op` from types and constants. Where it is no write of
/// rows that kv.write can say, a remark tells why.
mlir::FailureOr<IndexPut> readIndexPut(mlir::Operation *op);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHINDEXPUT_H
