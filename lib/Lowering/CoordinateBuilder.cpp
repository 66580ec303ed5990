//===- CoordinateBuilder.cpp - Where a kernel writes ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoordinateBuilder.h"
#include "KernelTable.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

Value kvfuse::createAnd(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::AndIOp::create(b, lhs, rhs);
}

bool CoordinateBuilder::mayNeedWrap(unsigned dim) {
  return write.getNegative() == NegativePolicy::wrap &&
         write.needsBoundsCheck(i, dim) && write.mayBeNegative(i, dim);
}

bool CoordinateBuilder::needsTest(unsigned dim) {
  return write.getOutOfBounds() != BoundsPolicy::undefined &&
         write.needsBoundsCheck(i, dim);
}

/// The power of two that `expr` is divided by, as its last step, or 0.
static int64_t getShift(AffineExpr expr) {
  auto divisor = expr.getKind() == AffineExprKind::FloorDiv
                     ? dyn_cast<AffineConstantExpr>(
                           cast<AffineBinaryOpExpr>(expr).getRHS())
                     : AffineConstantExpr();
  return divisor && llvm::isPowerOf2_64(divisor.getValue())
             ? llvm::Log2_64(divisor.getValue())
             : 0;
}

Value CoordinateBuilder::applyMap(ImplicitLocOpBuilder &b, unsigned dim,
                                  ValueRange rows) {
  SmallVector<Value> operands(token);
  llvm::append_range(operands, rows);
  AffineMap map = write.getMap(i).getSubMap({dim});
  // SX2: a shift rounds down, too. Nobody would make one of the comparisons
  // around a division that affine.apply is lowered to.
  int64_t shift = getShift(map.getResult(0));
  if (shift != 0)
    map = AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                         cast<AffineBinaryOpExpr>(map.getResult(0)).getLHS());
  Value applied = b.createOrFold<affine::AffineApplyOp>(map, operands);
  if (shift == 0)
    return applied;
  return arith::ShRSIOp::create(b, applied,
                                arith::ConstantIndexOp::create(b, shift));
}

Value CoordinateBuilder::wrap(ImplicitLocOpBuilder &b, unsigned dim,
                              Value coordinate) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, coordinate, zero);
  Value wrapped =
      arith::AddIOp::create(b, coordinate, createSize(b, dest.cache, dim));
  return arith::SelectOp::create(b, isNegative, wrapped, coordinate);
}

/// One unsigned comparison covers negative coordinates too.
Value CoordinateBuilder::isInBounds(ImplicitLocOpBuilder &b, unsigned dim,
                                    Value coordinate) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate,
                               createSize(b, dest.cache, dim));
}

std::string CoordinateBuilder::nameDestination() {
  if (dest.first == dest.last)
    return "destination " + std::to_string(dest.first);
  return "one of destinations " + std::to_string(dest.first) + " to " +
         std::to_string(dest.last);
}

Value CoordinateBuilder::locate(ImplicitLocOpBuilder &b, ValueRange rows,
                                MutableArrayRef<Value> place) {
  Value inBounds;
  for (auto [dim, coordinate] : llvm::enumerate(place)) {
    if (coordinate)
      continue;
    coordinate = applyMap(b, dim, rows);
    if (mayNeedWrap(dim))
      coordinate = wrap(b, dim, coordinate);
    if (needsTest(dim))
      inBounds = createAnd(b, inBounds, isInBounds(b, dim, coordinate));
  }
  if (inBounds && write.getOutOfBounds() == BoundsPolicy::trap)
    cf::AssertOp::create(b, inBounds,
                         "SX5: index out of bounds in " + nameDestination());
  return inBounds;
}

Value CoordinateBuilder::applyLast(ImplicitLocOpBuilder &b, ValueRange rows) {
  return applyMap(b, write.getDestType(i).getRank() - 1, rows);
}

Value CoordinateBuilder::buildInBounds(ImplicitLocOpBuilder &b, Value first,
                                       int64_t count) {
  unsigned dim = write.getDestType(i).getRank() - 1;
  if (needsTest(dim)) {
    // The sum may overflow only where the first test fails.
    Value last = arith::AddIOp::create(
        b, first, arith::ConstantIndexOp::create(b, count - 1));
    return createAnd(b, isInBounds(b, dim, first), isInBounds(b, dim, last));
  }
  if (!mayNeedWrap(dim))
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first,
                               arith::ConstantIndexOp::create(b, 0));
}
