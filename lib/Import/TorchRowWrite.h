//===- TorchRowWrite.h - What a torch operation writes where ----*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHROWWRITE_H
#define KVFUSE_LIB_IMPORT_TORCHROWWRITE_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallBitVector.h"

namespace kvfuse::torch {

/// Is `op` an index_put, an index_copy or a scatter?
bool isRowWrite(mlir::Operation *op);

/// An index_put, index_copy or scatter as kv.write says it; cache, values and
/// indices are torch's.
struct RowWrite {
  mlir::Value cache;
  mlir::Value values;
  llvm::SmallVector<mlir::Value> indices;
  /// Dimensions of size 1 of the indices that are not in the grid.
  llvm::SmallBitVector droppedIndexDims;
  /// The shape of the token grid: that of the indices, repeated along each
  /// other, without those dimensions.
  llvm::SmallVector<int64_t> grid;
  /// From (grid..., indices..., rows...) to the coordinates of `cache`.
  mlir::AffineMap map;
  /// From (grid..., rows...) to the coordinates of `values`.
  mlir::AffineMap order;
  /// Dimensions of the values of size 1 that torch repeats; `order` leaves
  /// them out.
  llvm::SmallBitVector repeatedDims;
  /// Do rows leave elements of a dimension of the cache out?
  bool isBox = false;
  /// What the operation does with negative indices.
  mlir::kv::NegativePolicy negative = mlir::kv::NegativePolicy::wrap;
};

/// Reads `op` from types and constants. Where it is no write of rows that
/// kv.write can say, a remark tells why.
mlir::FailureOr<RowWrite> readRowWrite(mlir::Operation *op);

/// The readers of each kind of operation.
mlir::FailureOr<RowWrite> readIndexPut(mlir::Operation *op);
mlir::FailureOr<RowWrite> readIndexCopy(mlir::Operation *op);
mlir::FailureOr<RowWrite> readScatter(mlir::Operation *op);

/// Sets `cache` and `values`, operands of `op`, or refuses what is no write of
/// rows of the cache's own type.
mlir::LogicalResult readCacheAndValues(mlir::Operation *op, RowWrite &write,
                                       unsigned cache, unsigned values);
/// SX1 for the tensor that indexes dimension `dim`.
mlir::LogicalResult checkIndexType(mlir::Operation *op, mlir::Value index,
                                   unsigned dim);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHROWWRITE_H
