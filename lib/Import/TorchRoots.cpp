//===- TorchRoots.cpp - What indices are computed from --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchRoots.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

bool torch::isArithmetic(Operation *op) {
  return isa<arith::AddIOp, arith::AndIOp, arith::DivSIOp, arith::ExtSIOp,
             arith::MulIOp, arith::RemSIOp, arith::ShLIOp, arith::ShRSIOp,
             arith::SubIOp, arith::TruncIOp, kv::ApplyOp>(op);
}

Value torch::getMovedTensor(Operation *op) {
  if (isa<linalg::BroadcastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          op))
    return op->getOperand(0);
  return {};
}

bool torch::isConstantOrIota(Value value) {
  return matchPattern(value, m_Constant()) ||
         isa_and_nonnull<tensor::GenerateOp, tensor::SplatOp>(
             value.getDefiningOp());
}

void torch::getRoots(Value index, llvm::SetVector<Value> &roots) {
  Operation *op = index.getDefiningOp();
  if (isConstantOrIota(index))
    return;
  if (op && isArithmetic(op))
    for (Value operand : op->getOperands())
      getRoots(operand, roots);
  else if (Value moved = op ? getMovedTensor(op) : Value())
    getRoots(moved, roots);
  else
    roots.insert(index);
}

/// Is `expr` not negative where its dimensions are not?
static bool isNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || expr.getKind() == AffineExprKind::Mod ||
         (isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS()));
}

bool torch::keepsSign(Value index) {
  DenseIntElementsAttr constant;
  if (matchPattern(index, m_Constant(&constant)))
    return llvm::all_of(constant, [](APInt v) { return v.isNonNegative(); });
  Operation *op = index.getDefiningOp();
  if (!op || isConstantOrIota(index))
    return true;
  if (Value moved = getMovedTensor(op))
    return keepsSign(moved);
  // A sum, a product or a narrowing may wrap around.
  if (isa<arith::AddIOp, arith::MulIOp, arith::ShLIOp, arith::SubIOp,
          arith::TruncIOp>(op))
    return false;
  if (!isArithmetic(op))
    return true;
  auto apply = dyn_cast<kv::ApplyOp>(op);
  return (!apply || isNonNegative(apply.getMap().getResult(0))) &&
         llvm::all_of(op->getOperands(), keepsSign);
}

/// `index` over its only root as dimension 0, and what does not depend on it as
/// symbols; null if it is no affine function of it.
static AffineExpr getSlotExpr(Value index, unsigned &numSymbols) {
  Operation *op = index.getDefiningOp();
  MLIRContext *context = index.getContext();
  if (isConstantOrIota(index))
    return getAffineSymbolExpr(numSymbols++, context);
  if (auto apply = dyn_cast_or_null<kv::ApplyOp>(op)) {
    SmallVector<AffineExpr> inputs;
    for (Value input : apply.getInputs()) {
      inputs.push_back(getSlotExpr(input, numSymbols));
      if (!inputs.back())
        return {};
    }
    return apply.getMap().getResult(0).replaceDims(inputs);
  }
  if (isa_and_nonnull<arith::ExtSIOp>(op))
    return getSlotExpr(op->getOperand(0), numSymbols);
  // A constant divisor is all there is.
  if (isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op) &&
      getSlotExpr(op->getOperand(0), numSymbols) ==
          getAffineDimExpr(0, context))
    return getAffineDimExpr(0, context).floorDiv(2);
  if (Value moved = op ? getMovedTensor(op) : Value())
    return getSlotExpr(moved, numSymbols);
  return op && isArithmetic(op) ? AffineExpr() : getAffineDimExpr(0, context);
}

/// Does dimension 0 occur in `expr` as what is divided alone?
static bool occursDivided(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return !isa<AffineDimExpr>(expr);
  bool divides = expr.getKind() == AffineExprKind::Mod ||
                 expr.getKind() == AffineExprKind::FloorDiv;
  if (divides && isa<AffineDimExpr>(binary.getLHS()))
    return true;
  return occursDivided(binary.getLHS()) && occursDivided(binary.getRHS());
}

bool torch::isComputedFromSlot(Value index) {
  unsigned numSymbols = 0;
  AffineExpr expr = getSlotExpr(index, numSymbols);
  if (!expr)
    return false;
  expr = simplifyAffineExpr(expr, /*numDims=*/1, numSymbols);
  return isa<AffineDimExpr>(expr) || occursDivided(expr);
}

/// Is `index` a constant, or does it rise by 1 from some start? `rises` is set
/// if it does.
static bool isConstantOrRange(Value index, bool &rises) {
  Operation *op = index.getDefiningOp();
  DenseElementsAttr constant;
  if (matchPattern(index, m_Constant(&constant)))
    return constant.isSplat();
  if (isConstantOrIota(index)) {
    rises |= isa<tensor::GenerateOp>(op);
    return true;
  }
  if (Value moved = op ? getMovedTensor(op) : Value())
    return isConstantOrRange(moved, rises);
  auto apply = dyn_cast_or_null<kv::ApplyOp>(op);
  if (!apply || apply.getInputs().size() != 1)
    return false;
  AffineExpr expr = apply.getMap().getResult(0);
  AffineExpr start = expr - getAffineDimExpr(0, expr.getContext());
  return isa<AffineConstantExpr>(simplifyAffineExpr(start, 1, 0)) &&
         isConstantOrRange(apply.getInputs().front(), rises);
}

bool torch::areRanges(ValueRange indices) {
  bool rises = false;
  return llvm::all_of(
             indices,
             [&](Value index) { return isConstantOrRange(index, rises); }) &&
         rises;
}
