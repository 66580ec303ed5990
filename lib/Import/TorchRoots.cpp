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

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

/// `index` over `leaves`: what its kv.apply and the kv.apply before it take, of
/// the same shape.
static AffineExpr composeApplies(Value index, llvm::SetVector<Value> &leaves) {
  Operation *op = index.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp>(op))
    return composeApplies(op->getOperand(0), leaves);
  if (auto apply = dyn_cast_or_null<kv::ApplyOp>(op)) {
    SmallVector<AffineExpr> inputs;
    for (Value input : apply.getInputs())
      inputs.push_back(composeApplies(input, leaves));
    return apply.getMap().getResult(0).replaceDims(inputs);
  }
  leaves.insert(index);
  unsigned dim = llvm::find(leaves, index) - leaves.begin();
  return getAffineDimExpr(dim, index.getContext());
}

static AffineExpr getSimplified(Value index, llvm::SetVector<Value> &leaves) {
  AffineExpr expr = composeApplies(index, leaves);
  return simplifyAffineExpr(expr, leaves.size(), /*numSymbols=*/0);
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
    return llvm::all_of(constant,
                        [](const APInt &v) { return v.isNonNegative(); });
  Operation *op = index.getDefiningOp();
  if (!op || isConstantOrIota(index))
    return true;
  if (Value moved = getMovedTensor(op))
    return keepsSign(moved);
  if (isa<kv::ApplyOp>(op)) {
    llvm::SetVector<Value> leaves;
    return isNonNegative(getSimplified(index, leaves)) &&
           llvm::all_of(leaves, keepsSign);
  }
  // A sum, a product or a narrowing may wrap around.
  if (isa<arith::AddIOp, arith::MulIOp, arith::ShLIOp, arith::SubIOp,
          arith::TruncIOp>(op))
    return false;
  return !isArithmetic(op) || llvm::all_of(op->getOperands(), keepsSign);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

namespace {
/// What an index has to do with its root.
enum class Relation {
  /// Nothing: it has none.
  None,
  /// It is the root.
  Same,
  /// The root is divided wherever it occurs.
  Divided,
  /// Anything else: the root is only a part of what is divided.
  Part
};
} // namespace

/// Does dimension `dim` occur in `expr` only as what is divided alone?
static bool occursDivided(AffineExpr expr, unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return !expr.isFunctionOfDim(dim);
  bool divides = expr.getKind() == AffineExprKind::Mod ||
                 expr.getKind() == AffineExprKind::FloorDiv;
  if (divides && isa<AffineDimExpr>(binary.getLHS()))
    return true;
  return occursDivided(binary.getLHS(), dim) &&
         occursDivided(binary.getRHS(), dim);
}

static Relation getRelation(Value index);

static Relation getApplyRelation(Value index) {
  llvm::SetVector<Value> leaves;
  AffineExpr expr = getSimplified(index, leaves);
  Relation relation = Relation::None;
  for (auto [dim, leaf] : llvm::enumerate(leaves)) {
    Relation own = getRelation(leaf);
    if (expr == getAffineDimExpr(dim, expr.getContext()))
      return own;
    if (own == Relation::Same)
      own = occursDivided(expr, dim) ? Relation::Divided : Relation::Part;
    relation = std::max(relation, own);
  }
  return relation;
}

static Relation getRelation(Value index) {
  Operation *op = index.getDefiningOp();
  if (isConstantOrIota(index))
    return Relation::None;
  if (Value moved = op ? getMovedTensor(op) : Value())
    return getRelation(moved);
  if (!op || !isArithmetic(op))
    return Relation::Same;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return getRelation(op->getOperand(0));
  if (isa<kv::ApplyOp>(op))
    return getApplyRelation(index);
  Relation relation = Relation::None;
  for (Value operand : op->getOperands())
    relation = std::max(relation, getRelation(operand));
  bool divides =
      isa<arith::AndIOp, arith::DivSIOp, arith::RemSIOp, arith::ShRSIOp>(op);
  if (relation == Relation::Same)
    return divides ? Relation::Divided : Relation::Part;
  return relation;
}

bool torch::isComputedFromSlot(Value index) {
  return getRelation(index) != Relation::Part;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

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
