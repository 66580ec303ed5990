//===- CoordinateBuilder.h - Where a kernel writes --------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_COORDINATEBUILDER_H
#define KVFUSE_LOWERING_COORDINATEBUILDER_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvfuse {

/// Emits the coordinates in the caches of a write, wrapped (SX4) and tested
/// (SX5), for one token. All arithmetic is in 64 bits.
class CoordinateBuilder {
public:
  /// `dests` are the caches in the kernel, `grid` is the token and `slots` its
  /// index values, of type `index`.
  CoordinateBuilder(mlir::kv::WriteOp write, mlir::ValueRange dests,
                    mlir::ValueRange grid, mlir::ValueRange slots)
      : write(write), dests(dests), token(grid) {
    llvm::append_range(token, slots);
  }

  /// Fills in those of the first coordinates of destination `i` that are null
  /// in `place`: all from the row coordinates `rows`, or, where `rows` is
  /// empty, those that do not depend on the row. Traps under that policy.
  /// Returns whether `inBounds` holds and what was filled in is in bounds; null
  /// stands for true.
  mlir::Value locate(mlir::ImplicitLocOpBuilder &b, unsigned i,
                     mlir::ValueRange rows,
                     llvm::MutableArrayRef<mlir::Value> place,
                     mlir::Value inBounds);

  /// The last coordinate of destination `i`, not wrapped.
  mlir::Value applyLast(mlir::ImplicitLocOpBuilder &b, unsigned i,
                        mlir::ValueRange rows);

  /// Are `count` coordinates from `first` on, each the last one of destination
  /// `i`, in bounds without wrapping? Null if that needs no test.
  mlir::Value buildInBounds(mlir::ImplicitLocOpBuilder &b, unsigned i,
                            mlir::Value first, int64_t count);

private:
  mlir::Value applyMap(mlir::ImplicitLocOpBuilder &b, unsigned i, unsigned dim,
                       mlir::ValueRange rows);
  mlir::Value wrap(mlir::ImplicitLocOpBuilder &b, unsigned i, unsigned dim,
                   mlir::Value coordinate);
  mlir::Value isInBounds(mlir::ImplicitLocOpBuilder &b, unsigned i,
                         unsigned dim, mlir::Value coordinate);
  bool dependsOnRow(unsigned i, unsigned dim);
  bool mayNeedWrap(unsigned i, unsigned dim);
  bool needsTest(unsigned i, unsigned dim);

  mlir::kv::WriteOp write;
  llvm::SmallVector<mlir::Value> dests;
  /// What a map takes before the row coordinates.
  llvm::SmallVector<mlir::Value> token;
};

/// `lhs` and `rhs`, each null if it is true.
mlir::Value createAnd(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                      mlir::Value rhs);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_COORDINATEBUILDER_H
