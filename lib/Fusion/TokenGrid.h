//===- TokenGrid.h - The grid of a write ------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_TOKENGRID_H
#define KVFUSE_FUSION_TOKENGRID_H

#include "ElementAccess.h"
#include "kvfuse/Dialect/KV/IR/KV.h"

namespace kvfuse {

/// The grid of a write as the analysis sees it. Affine dimension k is the
/// coordinate in dimension k of the grid. One dimension of the write's own grid
/// may be split into several.
class TokenGrid {
public:
  /// The grid of `write`, as it is.
  explicit TokenGrid(mlir::kv::WriteOp write);

  /// The grid of `write`, split as the index operands and the mask are
  /// collapsed, if they are.
  static std::optional<TokenGrid> trySplit(mlir::kv::WriteOp write);

  unsigned getRank() const { return shape.size(); }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  /// The coordinates of an index operand of the write at a point of the grid.
  llvm::ArrayRef<mlir::AffineExpr> getCoords() const { return coords; }
  const GridSplit *getSplit() const { return split ? &*split : nullptr; }
  /// The dimension of the write's own grid that is split.
  unsigned getSplitDim() const { return splitDim; }

private:
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<mlir::AffineExpr> coords;
  std::optional<GridSplit> split;
  unsigned splitDim = 0;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_TOKENGRID_H
