//===- IndexArithmetic.cpp - Integer arithmetic as affine -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SX3: arithmetic is seen through, or it is rejected; what is no arithmetic is
// for the caller to make a root.
//
//===----------------------------------------------------------------------===//

#include "IndexAnalysis.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

static unsigned getWidth(Value value) {
  return ConstantIntRanges::getStorageBitwidth(
      getElementTypeOrSelf(value.getType()));
}

AffineExpr IndexAnalysis::evaluateArithmetic(Operation *op, Coords coords) {
  if (isa<ApplyOp>(op))
    return evaluateApply(op, coords);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
          arith::IndexCastUIOp>(op))
    return evaluateWidthChange(op, coords);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return evaluateSum(op, coords);
  if (isa<arith::MulIOp, arith::ShLIOp>(op))
    return evaluateProduct(op, coords);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(op))
    return evaluateDivision(op, coords);
  return {};
}

AffineExpr IndexAnalysis::evaluateApply(Operation *op, Coords coords) {
  SmallVector<AffineExpr> inputs;
  for (Value input : op->getOperands()) {
    inputs.push_back(evaluate(input, coords));
    if (!inputs.back())
      return {};
  }
  return simplify(cast<ApplyOp>(op).getMap().getResult(0).replaceDims(inputs));
}

/// A change of width is the identity if it keeps every value that occurs.
AffineExpr IndexAnalysis::evaluateWidthChange(Operation *op, Coords coords) {
  Value input = op->getOperand(0);
  unsigned from = getWidth(input), to = getWidth(op->getResult(0));
  // SX1: other widths than 32 and 64 cannot be index operands.
  if (from < 32)
    return {};
  AffineExpr expr = evaluate(input, coords);
  if (!expr)
    return {};
  if (to < from) {
    ConstantIntRanges range = exprRanges.getRange(expr).intersection(
        intrange::extSIRange(ranges.getRange(input), 64));
    return range.smin().isSignedIntN(to) && range.smax().isSignedIntN(to)
               ? expr
               : reject(Refusal::IndexOverflow, op);
  }
  bool extendsZero = to > from && isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
  return !extendsZero || isNonNegative(input, expr) ? expr : AffineExpr();
}

/// `expr` if `op`, whose exact value it is, does not wrap around. In 64 bits
/// that is assumed (SX3).
AffineExpr IndexAnalysis::checkOverflow(AffineExpr expr, Operation *op) {
  unsigned width = getWidth(op->getResult(0));
  if (width >= 64)
    return expr;
  ConstantIntRanges range = exprRanges.getRange(expr);
  return range.smin().isSignedIntN(width) && range.smax().isSignedIntN(width)
             ? expr
             : reject(Refusal::IndexOverflow, op);
}

AffineExpr IndexAnalysis::evaluateSum(Operation *op, Coords coords) {
  AffineExpr lhs = evaluate(op->getOperand(0), coords);
  AffineExpr rhs = lhs ? evaluate(op->getOperand(1), coords) : AffineExpr();
  if (!rhs)
    return {};
  return checkOverflow(simplify(isa<arith::AddIOp>(op) ? lhs + rhs : lhs - rhs),
                       op);
}

/// The constant that `value` is, at `coords`.
std::optional<int64_t> IndexAnalysis::getConstant(Value value, Coords coords) {
  auto expr = dyn_cast_or_null<AffineConstantExpr>(tryEvaluate(value, coords));
  return expr ? std::optional(expr.getValue()) : std::nullopt;
}

/// x * c, c * x and x << c; a product of two vectors is a root.
AffineExpr IndexAnalysis::evaluateProduct(Operation *op, Coords coords) {
  Value factor = op->getOperand(0);
  std::optional<int64_t> constant = getConstant(op->getOperand(1), coords);
  if (!constant && isa<arith::MulIOp>(op)) {
    factor = op->getOperand(1);
    constant = getConstant(op->getOperand(0), coords);
  }
  if (isa<arith::ShLIOp>(op) && constant)
    constant = *constant >= 0 && *constant < getWidth(factor) - 1
                   ? std::optional(int64_t(1) << *constant)
                   : std::nullopt;
  if (!constant)
    return {};
  AffineExpr expr = evaluate(factor, coords);
  return expr ? checkOverflow(expr * *constant, op) : expr;
}

namespace {
/// floor(x / divisor), or the remainder that goes with it.
struct FloorDivision {
  int64_t divisor;
  bool isRemainder;
};
} // namespace

/// SX3: the floor division by `constant` that `op` is, by itself or because no
/// dividend is negative.
static std::optional<FloorDivision>
getFloorDivision(Operation *op, int64_t constant, bool isNonNegative) {
  // x & (2^k - 1) is the remainder by 2^k, and x >> k the quotient.
  if (isa<arith::AndIOp>(op)) {
    if (constant <= 0 || !llvm::isPowerOf2_64(uint64_t(constant) + 1))
      return std::nullopt;
    return FloorDivision{constant + 1, true};
  }
  if (isa<arith::ShRSIOp>(op) || (isa<arith::ShRUIOp>(op) && isNonNegative)) {
    if (constant < 0 || constant >= 63 ||
        constant >= getWidth(op->getResult(0)))
      return std::nullopt;
    return FloorDivision{int64_t(1) << constant, false};
  }
  if (constant <= 0)
    return std::nullopt;
  if (isa<arith::FloorDivSIOp>(op))
    return FloorDivision{constant, false};
  if (isNonNegative && isa<arith::DivSIOp, arith::DivUIOp>(op))
    return FloorDivision{constant, false};
  if (isNonNegative && isa<arith::RemSIOp, arith::RemUIOp>(op))
    return FloorDivision{constant, true};
  return std::nullopt;
}

/// Is no value negative that `value` takes, where `expr` is its expression, if
/// it has one?
bool IndexAnalysis::isNonNegative(Value value, AffineExpr expr) {
  if (ranges.isNonNegative(value))
    return true;
  return expr && (llvm::is_contained(nonNegative, expr) ||
                  exprRanges.getRange(expr).smin().isNonNegative());
}

AffineExpr IndexAnalysis::evaluateDivision(Operation *op, Coords coords) {
  Value dividend = op->getOperand(0);
  // A division by what is no constant is computed before the write.
  std::optional<int64_t> constant = getConstant(op->getOperand(1), coords);
  if (!constant)
    return {};
  AffineExpr expr = evaluate(dividend, coords);
  if (rejection)
    return {};
  std::optional<FloorDivision> division = getFloorDivision(
      op, *constant, allNonNegative || isNonNegative(dividend, expr));
  if (!division && isa<arith::AndIOp>(op))
    return {};
  if (!division)
    return reject(Refusal::MixedDivision, op);
  if (!expr)
    return {};
  return simplify(division->isRemainder ? expr % division->divisor
                                        : expr.floorDiv(division->divisor));
}
