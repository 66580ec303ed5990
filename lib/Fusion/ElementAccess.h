//===- ElementAccess.h - Elements that are only moved -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_ELEMENTACCESS_H
#define KVFUSE_FUSION_ELEMENTACCESS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include <optional>

namespace kvfuse {

/// An element of a tensor: its coordinates are affine in those of the token
/// grid. A coordinate of a dimension of static size 1 means nothing.
struct ElementAccess {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> coords;
};

/// A dimension of the write's grid that is taken for several, because index
/// values and rows are computed on several and then collapsed: `whole` stands
/// for the coordinate in the one, `parts` are those in the others, of the sizes
/// `sizes`. At most one size is dynamic, so equal static ones mean equal sizes.
struct GridSplit {
  mlir::AffineExpr whole;
  llvm::SmallVector<mlir::AffineExpr> parts;
  llvm::SmallVector<int64_t> sizes;
};

/// The sizes in `shape` at `dims` that are not 1.
llvm::SmallVector<int64_t> getNonUnitSizes(llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> dims);

/// The element that `access` is a copy of, if an operation made it that only
/// moves elements: a reshape, broadcast, transposition, cast of the shape, or a
/// slice that only drops dimensions of size 1. Reshapes that mix dimensions are
/// seen through where the inner sizes are static, or by `split`.
std::optional<ElementAccess> getMovedFrom(const ElementAccess &access,
                                          const GridSplit *split = nullptr);

/// The coordinates in the loops of `op` at which it computes the element at
/// `coords` of its only result; nothing if that is no elementwise computation.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getLoopCoords(mlir::linalg::LinalgOp op,
              llvm::ArrayRef<mlir::AffineExpr> coords);

/// The element of `operand` that the body of its operation sees at `loops`.
ElementAccess getOperandAccess(mlir::OpOperand &operand,
                               llvm::ArrayRef<mlir::AffineExpr> loops);

} // namespace kvfuse

#endif // KVFUSE_FUSION_ELEMENTACCESS_H
