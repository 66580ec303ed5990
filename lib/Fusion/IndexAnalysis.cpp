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

/// SX3: arithmetic that must not be composed, and must not become a root
/// either, so that what the program really computes is named.
static std::optional<Refusal> getRefusal(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::ShRUIOp>(op))
    return Refusal::MixedDivision;
  if (isa<arith::TruncIOp>(op))
    return Refusal::IndexOverflow;
  // Sums and products wrap around in their own width; 64 bits are assumed to be
  // enough, fewer are not.
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op) &&
      !getElementTypeOrSelf(op->getResult(0)).isInteger(64))
    return Refusal::IndexOverflow;
  return std::nullopt;
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

AffineExpr IndexAnalysis::analyzeOp(Operation *op) {
  if (auto apply = dyn_cast<ApplyOp>(op)) {
    SmallVector<AffineExpr> inputs;
    for (Value input : apply.getInputs()) {
      inputs.push_back(analyze(input));
      if (!inputs.back())
        return {};
    }
    return apply.getMap().getResult(0).replaceDims(inputs);
  }
  // SX1: i32 roots are widened by the write itself.
  if (auto extend = dyn_cast<arith::ExtSIOp>(op))
    if (getElementTypeOrSelf(extend.getIn()).isInteger(32))
      return analyze(extend.getIn());
  if (std::optional<Refusal> reason = getRefusal(op)) {
    rejection = Rejection{*reason, op};
    return {};
  }
  return addRoot(op->getResult(0));
}
