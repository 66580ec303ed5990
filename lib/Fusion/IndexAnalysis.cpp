//===- IndexAnalysis.cpp - Index values as affine functions ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexAnalysis.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// The integer that every element of `value` is, if that is known.
static std::optional<int64_t> getSplat(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    if (matchPattern(splat.getInput(), m_ConstantInt(&constant)))
      return constant.getSExtValue();
  return std::nullopt;
}

static unsigned getWidth(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

std::optional<unsigned> IndexAnalysis::lookupRoot(Value value) const {
  while (auto extend = value.getDefiningOp<arith::ExtSIOp>())
    value = extend.getIn();
  const auto *it = llvm::find(roots, value);
  if (it == roots.end())
    return std::nullopt;
  return it - roots.begin();
}

AffineExpr IndexAnalysis::addRoot(Value value) {
  roots.push_back(value);
  return getAffineDimExpr(roots.size() - 1, value.getContext());
}

AffineExpr IndexAnalysis::reject(Refusal reason, Operation *cause) {
  rejection = Rejection{reason, cause};
  return {};
}

AffineExpr IndexAnalysis::analyze(Value index) {
  if (AffineExpr expr = known.lookup(index))
    return expr;
  AffineExpr expr;
  if (std::optional<int64_t> splat = getSplat(index))
    expr = getAffineConstantExpr(*splat, index.getContext());
  else if (Operation *def = index.getDefiningOp())
    expr = analyzeOp(def);
  else
    expr = addRoot(index);
  if (expr)
    known[index] = expr;
  return expr;
}

/// SX3: arithmetic is seen through, or it is rejected; what is no arithmetic is
/// a root.
AffineExpr IndexAnalysis::analyzeOp(Operation *op) {
  if (isa<ApplyOp>(op))
    return analyzeApply(op);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return analyzeWidthChange(op);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return analyzeSum(op);
  if (isa<arith::MulIOp, arith::ShLIOp>(op))
    return analyzeProduct(op);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(op))
    return analyzeDivision(op);
  return addRoot(op->getResult(0));
}

AffineExpr IndexAnalysis::analyzeApply(Operation *op) {
  SmallVector<AffineExpr> inputs;
  for (Value input : op->getOperands()) {
    inputs.push_back(analyze(input));
    if (!inputs.back())
      return {};
  }
  return cast<ApplyOp>(op).getMap().getResult(0).replaceDims(inputs);
}

/// A change of width is the identity if it keeps every value that occurs.
AffineExpr IndexAnalysis::analyzeWidthChange(Operation *op) {
  Value input = op->getOperand(0);
  // SX1: other widths than 32 and 64 cannot be index operands.
  if (getWidth(input) < 32)
    return addRoot(op->getResult(0));
  if (isa<arith::ExtSIOp>(op))
    return analyze(input);
  if (isa<arith::ExtUIOp>(op))
    return ranges.isNonNegative(input) ? analyze(input)
                                       : addRoot(op->getResult(0));
  unsigned width = getWidth(op->getResult(0));
  ConstantIntRanges range = ranges.getRange(input);
  if (range.smin().isSignedIntN(width) && range.smax().isSignedIntN(width))
    return analyze(input);
  return reject(Refusal::IndexOverflow, op);
}

/// May the sum, difference or product `op` wrap around? In 64 bits it is
/// assumed not to (SX3).
bool IndexAnalysis::mayOverflow(Operation *op) {
  if (getWidth(op->getResult(0)) == 64)
    return false;
  ConstantIntRanges lhs = ranges.getRange(op->getOperand(0));
  ConstantIntRanges rhs = ranges.getRange(op->getOperand(1));
  for (const APInt &l : {lhs.smin(), lhs.smax()})
    for (const APInt &r : {rhs.smin(), rhs.smax()}) {
      bool overflow = false;
      if (isa<arith::AddIOp>(op))
        (void)l.sadd_ov(r, overflow);
      else if (isa<arith::SubIOp>(op))
        (void)l.ssub_ov(r, overflow);
      else if (isa<arith::MulIOp>(op))
        (void)l.smul_ov(r, overflow);
      else
        (void)l.sshl_ov(r, overflow);
      if (overflow)
        return true;
    }
  return false;
}

AffineExpr IndexAnalysis::analyzeSum(Operation *op) {
  if (mayOverflow(op))
    return reject(Refusal::IndexOverflow, op);
  AffineExpr lhs = analyze(op->getOperand(0));
  AffineExpr rhs = lhs ? analyze(op->getOperand(1)) : AffineExpr();
  if (!rhs)
    return {};
  return isa<arith::AddIOp>(op) ? lhs + rhs : lhs - rhs;
}

/// x * c, c * x and x << c; a product of two vectors is a root.
AffineExpr IndexAnalysis::analyzeProduct(Operation *op) {
  if (mayOverflow(op))
    return reject(Refusal::IndexOverflow, op);
  Value factor = op->getOperand(0);
  std::optional<int64_t> constant = getSplat(op->getOperand(1));
  if (!constant && isa<arith::MulIOp>(op)) {
    factor = op->getOperand(1);
    constant = getSplat(op->getOperand(0));
  }
  if (isa<arith::ShLIOp>(op) && constant)
    constant = *constant >= 0 && *constant < 63
                   ? std::optional(int64_t(1) << *constant)
                   : std::nullopt;
  if (!constant)
    return addRoot(op->getResult(0));
  AffineExpr expr = analyze(factor);
  return expr ? expr * *constant : expr;
}

namespace {
/// floor(x / divisor), or the remainder that goes with it.
struct FloorDivision {
  int64_t divisor;
  bool isRemainder;
};
} // namespace

/// SX3: the floor division that `op` is, by itself or because no dividend is
/// negative.
static std::optional<FloorDivision> getFloorDivision(Operation *op,
                                                     bool isNonNegative) {
  std::optional<int64_t> constant = getSplat(op->getOperand(1));
  if (!constant)
    return std::nullopt;
  // x & (2^k - 1) is the remainder by 2^k, and x >> k the quotient.
  if (isa<arith::AndIOp>(op)) {
    if (*constant <= 0 || !llvm::isPowerOf2_64(uint64_t(*constant) + 1))
      return std::nullopt;
    return FloorDivision{*constant + 1, true};
  }
  if (isa<arith::ShRSIOp>(op) || (isa<arith::ShRUIOp>(op) && isNonNegative)) {
    if (*constant < 0 || *constant >= 63 ||
        *constant >= getWidth(op->getResult(0)))
      return std::nullopt;
    return FloorDivision{int64_t(1) << *constant, false};
  }
  if (*constant <= 0)
    return std::nullopt;
  if (isa<arith::FloorDivSIOp>(op))
    return FloorDivision{*constant, false};
  if (isNonNegative && isa<arith::DivSIOp, arith::DivUIOp>(op))
    return FloorDivision{*constant, false};
  if (isNonNegative && isa<arith::RemSIOp, arith::RemUIOp>(op))
    return FloorDivision{*constant, true};
  return std::nullopt;
}

AffineExpr IndexAnalysis::analyzeDivision(Operation *op) {
  Value dividend = op->getOperand(0);
  // A division by what is no constant is computed before the write.
  if (!getSplat(op->getOperand(1)))
    return addRoot(op->getResult(0));
  std::optional<FloorDivision> division =
      getFloorDivision(op, ranges.isNonNegative(dividend));
  if (!division && isa<arith::AndIOp>(op))
    return addRoot(op->getResult(0));
  if (!division)
    return reject(Refusal::MixedDivision, op);
  AffineExpr expr = analyze(dividend);
  if (!expr)
    return {};
  return division->isRemainder ? expr % division->divisor
                               : expr.floorDiv(division->divisor);
}
