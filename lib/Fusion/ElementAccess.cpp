//===- ElementAccess.cpp - Elements that are only moved -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementAccess.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kvfuse;

SmallVector<int64_t> kvfuse::getNonUnitSizes(ArrayRef<int64_t> shape,
                                             ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    if (shape[dim] != 1)
      sizes.push_back(shape[dim]);
  return sizes;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// The coordinate in the dimension that the dimensions `dims` of `shape`
/// collapse to; null if an inner size is dynamic.
static AffineExpr linearize(ArrayRef<AffineExpr> coords,
                            ArrayRef<int64_t> shape, ArrayRef<int64_t> dims,
                            MLIRContext *context) {
  AffineExpr result;
  for (int64_t dim : dims) {
    if (shape[dim] == 1)
      continue;
    if (!result)
      result = coords[dim];
    else if (ShapedType::isDynamic(shape[dim]))
      return {};
    else
      result = result * shape[dim] + coords[dim];
  }
  return result ? result : getAffineConstantExpr(0, context);
}

static std::optional<ElementAccess>
getExpandedFrom(tensor::ExpandShapeOp op, ArrayRef<AffineExpr> coords) {
  ElementAccess source{op.getSrc(), {}};
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  for (ReassociationIndices &group : op.getReassociationIndices()) {
    source.coords.push_back(linearize(coords, shape, group, op.getContext()));
    if (!source.coords.back())
      return std::nullopt;
  }
  return source;
}

/// Sets `coords` at `dims` to the coordinates in the dimensions `dims` of
/// `shape` that collapse to one, in which it is `coord`.
static bool delinearize(AffineExpr coord, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> dims, const GridSplit *split,
                        MutableArrayRef<AffineExpr> coords) {
  SmallVector<int64_t> nonUnit = llvm::filter_to_vector(
      dims, [&](int64_t dim) { return shape[dim] != 1; });
  if (split && coord == split->whole &&
      getNonUnitSizes(shape, dims) == split->sizes) {
    for (auto [dim, part] : llvm::zip_equal(nonUnit, split->parts))
      coords[dim] = part;
    return true;
  }
  while (nonUnit.size() > 1) {
    int64_t inner = nonUnit.pop_back_val();
    if (ShapedType::isDynamic(shape[inner]) || shape[inner] == 0)
      return false;
    coords[inner] = coord % shape[inner];
    coord = coord.floorDiv(shape[inner]);
  }
  if (!nonUnit.empty())
    coords[nonUnit.front()] = coord;
  return true;
}

static std::optional<ElementAccess>
getCollapsedFrom(tensor::CollapseShapeOp op, ArrayRef<AffineExpr> coords,
                 const GridSplit *split) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  ElementAccess source{
      op.getSrc(),
      SmallVector<AffineExpr>(shape.size(),
                              getAffineConstantExpr(0, op.getContext()))};
  for (auto [coord, group] : llvm::zip(coords, op.getReassociationIndices()))
    if (!delinearize(coord, shape, group, split, source.coords))
      return std::nullopt;
  return source;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Does `op` take all of dimension `dim`?
static bool takesWhole(tensor::ExtractSliceOp op, int64_t dim) {
  if (op.isDynamicOffset(dim) || op.getStaticOffset(dim) != 0 ||
      op.isDynamicStride(dim) || op.getStaticStride(dim) != 1)
    return false;
  if (!op.isDynamicSize(dim))
    return op.getStaticSize(dim) == op.getSourceType().getDimSize(dim);
  auto size = op.getDynamicSize(dim).getDefiningOp<tensor::DimOp>();
  return size && size.getSource() == op.getSource() &&
         size.getConstantIndex() == dim;
}

static std::optional<ElementAccess> getSlicedFrom(tensor::ExtractSliceOp op,
                                                  ArrayRef<AffineExpr> coords) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  ElementAccess source{op.getSource(), {}};
  for (int64_t dim = 0, e = op.getSourceType().getRank(); dim < e; ++dim) {
    if (!takesWhole(op, dim))
      return std::nullopt;
    if (dropped.test(dim)) {
      source.coords.push_back(getAffineConstantExpr(0, op.getContext()));
    } else {
      source.coords.push_back(coords.front());
      coords = coords.drop_front();
    }
  }
  return source;
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

std::optional<SmallVector<AffineExpr>>
kvfuse::getLoopCoords(linalg::LinalgOp op, ArrayRef<AffineExpr> coords) {
  if (op->getNumResults() != 1 || !op.isAllParallelLoops() ||
      !op.hasPureTensorSemantics())
    return std::nullopt;
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!map.isPermutation())
    return std::nullopt;
  SmallVector<AffineExpr> loops(coords.size());
  for (auto [dim, coord] : llvm::enumerate(coords))
    loops[map.getDimPosition(dim)] = coord;
  return loops;
}

ElementAccess kvfuse::getOperandAccess(OpOperand &operand,
                                       ArrayRef<AffineExpr> loops) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  ElementAccess access{operand.get(), {}};
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    access.coords.push_back(expr.replaceDims(loops));
  return access;
}

static std::optional<ElementAccess> getCopiedFrom(linalg::LinalgOp op,
                                                  ArrayRef<AffineExpr> coords) {
  std::optional<SmallVector<AffineExpr>> loops = getLoopCoords(op, coords);
  if (!loops)
    return std::nullopt;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingBlockArgument(input) == yielded && !op.isScalar(input))
      return getOperandAccess(*input, *loops);
  return std::nullopt;
}

std::optional<ElementAccess> kvfuse::getMovedFrom(const ElementAccess &access,
                                                  const GridSplit *split) {
  Operation *def = access.tensor.getDefiningOp();
  if (!def)
    return std::nullopt;
  if (auto op = dyn_cast<tensor::ExpandShapeOp>(def))
    return getExpandedFrom(op, access.coords);
  if (auto op = dyn_cast<tensor::CollapseShapeOp>(def))
    return getCollapsedFrom(op, access.coords, split);
  if (auto op = dyn_cast<tensor::ExtractSliceOp>(def))
    return getSlicedFrom(op, access.coords);
  if (auto op = dyn_cast<linalg::LinalgOp>(def))
    return getCopiedFrom(op, access.coords);
  if (auto op = dyn_cast<tensor::CastOp>(def))
    if (isa<RankedTensorType>(op.getSource().getType()))
      return ElementAccess{op.getSource(), access.coords};
  return std::nullopt;
}
