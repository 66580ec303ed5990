//===- TorchPolicies.cpp - Masks that the user asks for -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchChain.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// What indices are computed from
//===----------------------------------------------------------------------===//

/// Does every element of the result come from the elements of the operands at
/// the same place?
static bool isArithmetic(Operation *op) {
  return isa<arith::AddIOp, arith::AndIOp, arith::DivSIOp, arith::ExtSIOp,
             arith::MulIOp, arith::RemSIOp, arith::ShLIOp, arith::ShRSIOp,
             arith::SubIOp, arith::TruncIOp, kv::ApplyOp>(op);
}

/// The tensor whose elements `op` repeats or puts into another shape.
static Value getMovedTensor(Operation *op) {
  if (isa<linalg::BroadcastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          op))
    return op->getOperand(0);
  return {};
}

/// Is `value` known without any slot: a constant or an iota?
static bool isConstantOrIota(Value value) {
  return matchPattern(value, m_Constant()) ||
         isa_and_nonnull<tensor::GenerateOp, tensor::SplatOp>(
             value.getDefiningOp());
}

/// What `index` is computed from.
static void getRoots(Value index, llvm::SetVector<Value> &roots) {
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

/// Is the only root of `index` the slot, rather than a part of it such as a
/// page that is multiplied by the page size?
static bool isComputedFromSlot(Value index) {
  unsigned numSymbols = 0;
  AffineExpr expr = getSlotExpr(index, numSymbols);
  if (!expr)
    return false;
  expr = simplifyAffineExpr(expr, /*numDims=*/1, numSymbols);
  return isa<AffineDimExpr>(expr) || occursDivided(expr);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static Value compareWith(OpBuilder &builder, Location loc,
                         arith::CmpIPredicate pred, Value slots,
                         int64_t scalar) {
  return arith::CmpIOp::create(builder, loc, pred, slots,
                               splatLike(builder, loc, scalar, slots));
}

/// slots >= 0 (SX4), slots != reserved (SX6), or both.
Value ChainConverter::getRootMask(Value root, Operation *write) {
  builder.setInsertionPoint(write);
  Location loc = write->getLoc();
  Value slots = widen(builder, loc, root);
  Value mask;
  if (policies.skipNegative)
    mask = compareWith(builder, loc, arith::CmpIPredicate::sge, slots, 0);
  if (policies.reservedSlot) {
    Value isUsed = compareWith(builder, loc, arith::CmpIPredicate::ne, slots,
                               *policies.reservedSlot);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, isUsed) : isUsed;
  }
  return mask;
}

Value ChainConverter::combineMasks(Value lhs, Value rhs, Operation *write) {
  if (!lhs || !rhs || lhs == rhs)
    return lhs ? lhs : rhs;
  Value &both = conjunctions[{lhs, rhs}];
  if (!both || !dominance.properlyDominates(both, write)) {
    builder.setInsertionPoint(write);
    both = arith::AndIOp::create(builder, write->getLoc(), lhs, rhs);
  }
  return both;
}

/// Puts `mask`, which is that of the operand of `op`, where `op` puts it.
static Value moveMask(OpBuilder &builder, Operation *op, Value mask) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType())
                  .clone(builder.getI1Type());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(builder, loc, type, mask,
                                           collapse.getReassociationIndices());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return tensor::ExpandShapeOp::create(builder, loc, type, mask,
                                         expand.getReassociationIndices(),
                                         expand.getMixedOutputShape());
  auto broadcast = cast<linalg::BroadcastOp>(op);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, broadcast.getInit()),
      builder.getI1Type());
  return linalg::BroadcastOp::create(builder, loc, mask, init,
                                     broadcast.getDimensions())
      .getResult()[0];
}

/// The mask for `index`, of its shape; null if it has no root.
Value ChainConverter::getMaskOf(Value index, Operation *write) {
  if (isConstantOrIota(index))
    return {};
  Value known = masks.lookup(index);
  if (known && dominance.properlyDominates(known, write))
    return known;
  Operation *op = index.getDefiningOp();
  Value mask;
  if (op && isArithmetic(op)) {
    for (Value operand : op->getOperands())
      mask = combineMasks(mask, getMaskOf(operand, write), write);
  } else if (Value moved = op ? getMovedTensor(op) : Value()) {
    mask = getMaskOf(moved, write);
    builder.setInsertionPoint(write);
    if (mask)
      mask = moveMask(builder, op, mask);
  } else {
    mask = getRootMask(index, write);
  }
  return masks[index] = mask;
}

/// SX6: can the reserved slot be told from these indices?
static LogicalResult checkReservedSlot(ValueRange indices, int64_t slot,
                                       Operation *write) {
  // What is negative is padding wherever it stands.
  if (slot < 0)
    return success();
  // Offset 0 of some page is not slot 0.
  llvm::SetVector<Value> roots;
  for (Value index : indices)
    getRoots(index, roots);
  if (roots.size() > 1)
    return emitError(write->getLoc(), "SX6: reserved slot ")
           << slot << " cannot be told from indices that come from "
           << roots.size() << " tensors instead of one";
  if (!llvm::all_of(indices, isComputedFromSlot))
    return emitError(write->getLoc(), "SX6: reserved slot ")
           << slot << " cannot be told from a tensor that is only a part of "
           << "the slot";
  return success();
}

FailureOr<Value> ChainConverter::getMask(const RowWrite &write,
                                         ValueRange indices, Operation *op) {
  Value mask = getPickingMask(write, indices.front(), op);
  if (policies.reservedSlot &&
      failed(checkReservedSlot(indices, *policies.reservedSlot, op)))
    return failure();
  if (!policies.skipNegative && !policies.reservedSlot)
    return mask;
  for (Value index : indices) {
    mask = combineMasks(mask, getMaskOf(index, op), op);
    // An index may be negative though no slot is.
    if (policies.skipNegative && !keepsSign(index)) {
      builder.setInsertionPoint(op);
      Location loc = op->getLoc();
      Value isValid = compareWith(builder, loc, arith::CmpIPredicate::sge,
                                  widen(builder, loc, index), 0);
      mask = combineMasks(mask, isValid, op);
    }
  }
  return mask;
}
