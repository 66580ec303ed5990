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

/// A destination of a write in the kernel. It stands for destinations `first`
/// to `last`, which are alike but for the memory, and of which a thread has
/// one.
struct Destination {
  unsigned first, last;
  mlir::Value cache, values;
  /// Extents of the row coordinates, groups along each of them, and in all.
  llvm::SmallVector<mlir::Value> extents, groupCounts;
  mlir::Value numGroups;
};

/// Emits the coordinates in one cache of a write, wrapped (SX4) and tested
/// (SX5), for one token. All arithmetic is in 64 bits.
class CoordinateBuilder {
public:
  /// `grid` is the token and `slots` are its index values, of type `index`.
  CoordinateBuilder(mlir::kv::WriteOp write, const Destination &dest,
                    mlir::ValueRange grid, mlir::ValueRange slots)
      : write(write), dest(dest), i(dest.first), token(grid) {
    llvm::append_range(token, slots);
  }

  /// Fills in those of the first coordinates that are null in `place`, of the
  /// element at the row coordinates `rows`. Traps under that policy. Returns
  /// whether what was filled in is in bounds; null stands for true.
  mlir::Value locate(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange rows,
                     llvm::MutableArrayRef<mlir::Value> place);

  /// The last coordinate, not wrapped.
  mlir::Value applyLast(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange rows);

  /// Are `count` coordinates from `first` on, each the last one, in bounds
  /// without wrapping? Null if that needs no test.
  mlir::Value buildInBounds(mlir::ImplicitLocOpBuilder &b, mlir::Value first,
                            int64_t count);

private:
  mlir::Value applyMap(mlir::ImplicitLocOpBuilder &b, unsigned dim,
                       mlir::ValueRange rows);
  mlir::Value wrap(mlir::ImplicitLocOpBuilder &b, unsigned dim,
                   mlir::Value coordinate);
  mlir::Value isInBounds(mlir::ImplicitLocOpBuilder &b, unsigned dim,
                         mlir::Value coordinate);
  std::string nameDestination();
  bool mayNeedWrap(unsigned dim);
  bool needsTest(unsigned dim);

  mlir::kv::WriteOp write;
  const Destination &dest;
  unsigned i;
  /// What a map takes before the row coordinates.
  llvm::SmallVector<mlir::Value> token;
};

/// `lhs` and `rhs`, each null if it is true.
mlir::Value createAnd(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                      mlir::Value rhs);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_COORDINATEBUILDER_H
