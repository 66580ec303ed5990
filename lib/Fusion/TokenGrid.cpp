//===- TokenGrid.cpp - The grid of a write --------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenGrid.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

TokenGrid::TokenGrid(WriteOp write) : shape(write.getGridShape()) {
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    coords.push_back(getAffineDimExpr(dim, write.getContext()));
}

/// The collapse that `tensor` comes from by elementwise operations, if there is
/// one.
static tensor::CollapseShapeOp findCollapse(Value tensor) {
  SmallVector<Value> worklist{tensor};
  llvm::SmallDenseSet<Value> visited{tensor};
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(def))
      return collapse;
    if (def && OpTrait::hasElementwiseMappableTraits(def))
      for (Value operand : def->getOperands())
        if (isa<RankedTensorType>(operand.getType()) &&
            visited.insert(operand).second)
          worklist.push_back(operand);
  }
  return {};
}

std::optional<TokenGrid> TokenGrid::trySplit(WriteOp write) {
  tensor::CollapseShapeOp collapse;
  for (Value index : write.getIndices())
    if (!collapse)
      collapse = findCollapse(index);
  if (!collapse)
    return std::nullopt;

  // One group of dimensions is a dimension of several.
  ArrayRef<int64_t> source = collapse.getSrcType().getShape();
  TokenGrid grid(write);
  GridSplit split;
  for (auto [dim, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    SmallVector<int64_t> sizes = getNonUnitSizes(source, group);
    if (sizes.size() < 2)
      continue;
    if (!split.sizes.empty() ||
        llvm::count_if(sizes, ShapedType::isDynamic) > 1)
      return std::nullopt;
    split.sizes = sizes;
    grid.splitDim = dim;
  }
  if (split.sizes.empty())
    return std::nullopt;

  MLIRContext *context = write.getContext();
  auto *place = grid.shape.erase(grid.shape.begin() + grid.splitDim);
  grid.shape.insert(place, split.sizes.begin(), split.sizes.end());
  split.whole = getAffineDimExpr(grid.getRank(), context);
  for (unsigned part = 0; part < split.sizes.size(); ++part)
    split.parts.push_back(getAffineDimExpr(grid.splitDim + part, context));
  grid.coords[grid.splitDim] = split.whole;
  for (unsigned dim = grid.splitDim + 1; dim < grid.coords.size(); ++dim)
    grid.coords[dim] = getAffineDimExpr(dim + split.sizes.size() - 1, context);
  grid.split = std::move(split);
  return grid;
}
