//===- TorchPolicies.cpp - Masks that the user asks for -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchChain.h"
#include "TorchRoots.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

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
