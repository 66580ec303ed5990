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

bool CoordinateBuilder::dependsOnRow(unsigned i, unsigned dim) {
  AffineExpr expr = write.getMap(i).getResult(dim);
  for (unsigned row = 0, e = write.getRowRank(i); row < e; ++row)
    if (expr.isFunctionOfDim(write.getRowDim(row)))
      return true;
  return false;
}

bool CoordinateBuilder::mayNeedWrap(unsigned i, unsigned dim) {
  return write.getNegative() == NegativePolicy::wrap &&
         write.needsBoundsCheck(i, dim) && write.mayBeNegative(i, dim);
}

bool CoordinateBuilder::needsTest(unsigned i, unsigned dim) {
  return write.getOutOfBounds() != BoundsPolicy::undefined &&
         write.needsBoundsCheck(i, dim);
}

Value CoordinateBuilder::applyMap(ImplicitLocOpBuilder &b, unsigned i,
                                  unsigned dim, ValueRange rows) {
  SmallVector<Value> operands(token);
  if (rows.empty())
    operands.append(write.getRowRank(i), token.front()); // not used
  else
    llvm::append_range(operands, rows);
  AffineMap map = write.getMap(i).getSubMap({dim});
  return b.createOrFold<affine::AffineApplyOp>(map, operands);
}

Value CoordinateBuilder::wrap(ImplicitLocOpBuilder &b, unsigned i, unsigned dim,
                              Value coordinate) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, coordinate, zero);
  Value wrapped =
      arith::AddIOp::create(b, coordinate, createSize(b, dests[i], dim));
  return arith::SelectOp::create(b, isNegative, wrapped, coordinate);
}

/// One unsigned comparison covers negative coordinates too.
Value CoordinateBuilder::isInBounds(ImplicitLocOpBuilder &b, unsigned i,
                                    unsigned dim, Value coordinate) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate,
                               createSize(b, dests[i], dim));
}

Value CoordinateBuilder::locate(ImplicitLocOpBuilder &b, unsigned i,
                                ValueRange rows, MutableArrayRef<Value> place,
                                Value inBounds) {
  Value isHere;
  for (auto [dim, coordinate] : llvm::enumerate(place)) {
    if (coordinate || (rows.empty() && dependsOnRow(i, dim)))
      continue;
    coordinate = applyMap(b, i, dim, rows);
    if (mayNeedWrap(i, dim))
      coordinate = wrap(b, i, dim, coordinate);
    if (needsTest(i, dim))
      isHere = createAnd(b, isHere, isInBounds(b, i, dim, coordinate));
  }
  if (isHere && write.getOutOfBounds() == BoundsPolicy::trap)
    cf::AssertOp::create(b, isHere,
                         "SX5: index out of bounds in destination " +
                             std::to_string(i));
  return createAnd(b, inBounds, isHere);
}

Value CoordinateBuilder::applyLast(ImplicitLocOpBuilder &b, unsigned i,
                                   ValueRange rows) {
  return applyMap(b, i, write.getDestType(i).getRank() - 1, rows);
}

Value CoordinateBuilder::buildInBounds(ImplicitLocOpBuilder &b, unsigned i,
                                       Value first, int64_t count) {
  unsigned dim = write.getDestType(i).getRank() - 1;
  if (needsTest(i, dim)) {
    // The sum may overflow only where the first test fails.
    Value last = arith::AddIOp::create(
        b, first, arith::ConstantIndexOp::create(b, count - 1));
    return createAnd(b, isInBounds(b, i, dim, first),
                     isInBounds(b, i, dim, last));
  }
  if (!mayNeedWrap(i, dim))
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first,
                               arith::ConstantIndexOp::create(b, 0));
}
