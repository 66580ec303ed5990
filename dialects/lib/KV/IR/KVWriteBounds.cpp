//===- KVWriteBounds.cpp - kv.write: extents and superfluous tests --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

using namespace mlir;
using namespace mlir::kv;

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

SmallVector<int64_t> WriteOp::getGridShape() {
  SmallVector<int64_t> grid(getGridRank(), ShapedType::kDynamic);
  auto refine = [&](Value operand) {
    auto shape = cast<ShapedType>(operand.getType()).getShape();
    for (auto [size, more] : llvm::zip_equal(grid, shape))
      if (ShapedType::isDynamic(size))
        size = more;
  };
  llvm::for_each(getIndices(), refine);
  if (getMask())
    refine(getMask());
  return grid;
}

std::optional<unsigned> WriteOp::getBareRow(unsigned i, unsigned dim) {
  auto expr = dyn_cast<AffineDimExpr>(getMap(i).getResult(dim));
  if (!expr || expr.getPosition() < getRowDim(0))
    return std::nullopt;
  return expr.getPosition() - getRowDim(0);
}

WriteOp::Extent WriteOp::getRowExtent(unsigned i, unsigned row) {
  auto rowInOrder = getAffineDimExpr(getGridRank() + row, getContext());
  if (std::optional<unsigned> dim = getOrder(i).getResultPosition(rowInOrder))
    return {/*fromValues=*/true, *dim};
  auto rowInMap = getAffineDimExpr(getRowDim(row), getContext());
  std::optional<unsigned> dim = getMap(i).getResultPosition(rowInMap);
  assert(dim && "verified: a row coordinate that the values lack is a "
                "coordinate of the cache");
  return {/*fromValues=*/false, *dim};
}

int64_t WriteOp::getStaticRowExtent(unsigned i, unsigned row) {
  Extent extent = getRowExtent(i, row);
  ShapedType type = extent.fromValues ? getValueType(i) : getDestType(i);
  return type.getDimSize(extent.dim);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SmallVector<Interval> WriteOp::getMapIntervals(unsigned i) {
  auto intervals = llvm::map_to_vector(getGridShape(), getIntervalBelow);
  intervals.append(getNumIndices(), Interval());
  for (unsigned row = 0, e = getRowRank(i); row < e; ++row)
    intervals.push_back(getIntervalBelow(getStaticRowExtent(i, row)));
  return intervals;
}

Interval WriteOp::getCoordinateInterval(unsigned i, unsigned dim) {
  return getInterval(getMap(i).getResult(dim), getMapIntervals(i));
}

bool WriteOp::mayBeNegative(unsigned i, unsigned dim) {
  return getCoordinateInterval(i, dim).mayBeNegative();
}

bool WriteOp::needsBoundsCheck(unsigned i, unsigned dim) {
  if (std::optional<unsigned> row = getBareRow(i, dim)) {
    // In a box an extent that comes from this very dimension covers it, too.
    Extent extent = getRowExtent(i, *row);
    if (!isBox(i) || (!extent.fromValues && extent.dim == dim))
      return false;
  }
  Interval interval = getCoordinateInterval(i, dim);
  return interval.mayBeNegative() || getDestType(i).isDynamicDim(dim) ||
         !interval.high || *interval.high >= getDestType(i).getDimSize(dim);
}
