//===- KVWriteOp.cpp - kv.write: building, queries, effects ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::kv;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

void WriteOp::build(OpBuilder &builder, OperationState &state,
                    ValueRange indices, Value mask, ValueRange dests,
                    ValueRange values, ArrayRef<AffineMap> maps,
                    ArrayRef<AffineMap> orders, ArrayRef<bool> boxes,
                    NegativePolicy negative, BoundsPolicy outOfBounds) {
  state.addOperands(indices);
  if (mask)
    state.addOperands(mask);
  state.addOperands(dests);
  state.addOperands(values);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {
      static_cast<int32_t>(indices.size()), mask ? 1 : 0,
      static_cast<int32_t>(dests.size()), static_cast<int32_t>(values.size())};
  properties.maps = builder.getAffineMapArrayAttr(maps);
  properties.orders = builder.getAffineMapArrayAttr(orders);
  properties.boxes = builder.getDenseBoolArrayAttr(boxes);
  properties.negative = NegativePolicyAttr::get(builder.getContext(), negative);
  properties.out_of_bounds =
      BoundsPolicyAttr::get(builder.getContext(), outOfBounds);

  state.addRegion(); // where
  for (Value value : values) {
    Region *body = state.addRegion();
    OpBuilder::InsertionGuard guard(builder);
    Type element = cast<ShapedType>(value.getType()).getElementType();
    Block *block = builder.createBlock(body, {}, element, value.getLoc());
    YieldOp::create(builder, state.location, block->getArgument(0));
  }
  for (Value dest : dests)
    if (isa<RankedTensorType>(dest.getType()))
      state.addTypes(dest.getType());
}

void WriteOp::build(OpBuilder &builder, OperationState &state,
                    TypeRange resultTypes, ValueRange operands,
                    ArrayRef<NamedAttribute> attributes, unsigned numRegions) {
  state.addOperands(operands);
  state.addTypes(resultTypes);
  state.addAttributes(attributes);
  for (unsigned i = 0; i < numRegions; ++i)
    state.addRegion();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool WriteOp::isCopy(unsigned i) {
  Block &body = getBody(i);
  auto yield = dyn_cast<YieldOp>(body.front());
  return yield && yield.getValue() == body.getArgument(0);
}

bool WriteOp::hasInnerRow(unsigned i) {
  AffineMap map = getMap(i), order = getOrder(i);
  if (getRowRank(i) == 0 || map.getNumResults() == 0 ||
      order.getNumResults() == 0)
    return false;
  unsigned row = getRowRank(i) - 1, dim = getRowDim(row);
  if (order.getResults().back() !=
      getAffineDimExpr(getGridRank() + row, getContext()))
    return false;
  auto usesRow = [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); };
  AffineExpr start =
      map.getResults().back() - getAffineDimExpr(dim, getContext());
  return llvm::none_of(map.getResults().drop_back(), usesRow) &&
         !usesRow(simplifyAffineExpr(start, map.getNumDims(), 0));
}

bool WriteOp::hasSameTokens(WriteOp other) {
  if (getIndices() != other.getIndices() || getMask() != other.getMask() ||
      getNegative() != other.getNegative() ||
      getOutOfBounds() != other.getOutOfBounds() ||
      hasWhere() != other.hasWhere())
    return false;
  return !hasWhere() || OperationEquivalence::isRegionEquivalentTo(
                            &getWhere(), &other.getWhere(),
                            OperationEquivalence::IgnoreLocations);
}

bool WriteOp::repeats(WriteOp previous) {
  if (!hasTensorForm() || getDests() != previous.getResults() ||
      getValues() != previous.getValues() || getMaps() != previous.getMaps() ||
      getOrders() != previous.getOrders() ||
      getBoxes() != previous.getBoxes() || !hasSameTokens(previous))
    return false;
  return llvm::all_of(
      llvm::zip_equal(getBodies(), previous.getBodies()), [](auto bodies) {
        auto &[body, other] = bodies;
        return OperationEquivalence::isRegionEquivalentTo(
            &body, &other, OperationEquivalence::IgnoreLocations);
      });
}

//===----------------------------------------------------------------------===//
// Effects (SM7)
//===----------------------------------------------------------------------===//

void WriteOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (hasTensorForm())
    return;
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/1,
                           /*effectOnFullRegion=*/false,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, /*stage=*/0,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
  }
}

/// A write that may trap, or rests on a promise, must not run where it did not
/// run before; nor must what stands in its regions, such as a division.
Speculation::Speculatability WriteOp::getSpeculatability() {
  if (!hasTensorForm() || getOutOfBounds() != BoundsPolicy::skip ||
      getNegative() == NegativePolicy::undefined)
    return Speculation::NotSpeculatable;
  WalkResult result = (*this)->walk([&](Operation *nested) {
    return nested == getOperation() || isSpeculatable(nested)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? Speculation::NotSpeculatable
                                 : Speculation::Speculatable;
}
