//===- KVWriteBounds.cpp - kv.write: extents and superfluous tests --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "llvm/Support/MathExtras.h"

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

namespace {
/// An interval of 64-bit integers; an end that is not there is not known.
struct Interval {
  std::optional<int64_t> low, high;
};
} // namespace

/// `lhs + rhs` or `lhs * rhs`, if both are known and the result has 64 bits.
static std::optional<int64_t> add(std::optional<int64_t> lhs,
                                  std::optional<int64_t> rhs) {
  int64_t result;
  if (!lhs || !rhs || llvm::AddOverflow(*lhs, *rhs, result))
    return std::nullopt;
  return result;
}
static std::optional<int64_t> multiply(std::optional<int64_t> lhs,
                                       int64_t rhs) {
  int64_t result;
  if (!lhs || llvm::MulOverflow(*lhs, rhs, result))
    return std::nullopt;
  return result;
}

/// The values that `expr` can take where its dimensions lie in `dims`.
/// Upstream's getBoundForAffineExpr gives up on sums that hold a remainder,
/// such as the coordinate (s mod 32) * 132 + r of a byte row.
static Interval getInterval(AffineExpr expr, ArrayRef<Interval> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {};
  Interval lhs = getInterval(binary.getLHS(), dims);
  Interval rhs = getInterval(binary.getRHS(), dims);
  if (expr.getKind() == AffineExprKind::Add)
    return {add(lhs.low, rhs.low), add(lhs.high, rhs.high)};

  // What remains has a constant on the right; of divisors it is positive (SX2).
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return {};
  int64_t factor = constant.getValue();
  switch (expr.getKind()) {
  case AffineExprKind::Mul: {
    if (factor == 0)
      return {0, 0};
    Interval result{multiply(lhs.low, factor), multiply(lhs.high, factor)};
    if (factor < 0)
      std::swap(result.low, result.high);
    return result;
  }
  case AffineExprKind::FloorDiv:
    if (lhs.low)
      lhs.low = llvm::divideFloorSigned(*lhs.low, factor);
    if (lhs.high)
      lhs.high = llvm::divideFloorSigned(*lhs.high, factor);
    return lhs;
  case AffineExprKind::Mod:
    // Inside one period the remainder is monotone.
    if (lhs.low && lhs.high &&
        llvm::divideFloorSigned(*lhs.low, factor) ==
            llvm::divideFloorSigned(*lhs.high, factor))
      return {llvm::mod(*lhs.low, factor), llvm::mod(*lhs.high, factor)};
    return {0, factor - 1};
  default:
    return {};
  }
}

/// The values that coordinate `dim` of destination `i` can take, from the
/// static sizes of grid and rows; nothing is known of index values.
static Interval getCoordinateInterval(WriteOp op, unsigned i, unsigned dim) {
  SmallVector<Interval> dims;
  auto addSize = [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      dims.push_back({0, std::nullopt});
    else
      dims.push_back({0, size - 1});
  };
  llvm::for_each(op.getGridShape(), addSize);
  dims.append(op.getNumIndices(), Interval());
  for (unsigned row = 0, e = op.getRowRank(i); row < e; ++row)
    addSize(op.getStaticRowExtent(i, row));
  return getInterval(op.getMap(i).getResult(dim), dims);
}

bool WriteOp::mayBeNegative(unsigned i, unsigned dim) {
  Interval interval = getCoordinateInterval(*this, i, dim);
  return !interval.low || *interval.low < 0;
}

bool WriteOp::needsBoundsCheck(unsigned i, unsigned dim) {
  if (std::optional<unsigned> row = getBareRow(i, dim)) {
    // In a box an extent that comes from this very dimension covers it, too.
    Extent extent = getRowExtent(i, *row);
    if (!isBox(i) || (!extent.fromValues && extent.dim == dim))
      return false;
  }
  if (mayBeNegative(i, dim) || getDestType(i).isDynamicDim(dim))
    return true;
  Interval interval = getCoordinateInterval(*this, i, dim);
  return !interval.high || *interval.high >= getDestType(i).getDimSize(dim);
}
