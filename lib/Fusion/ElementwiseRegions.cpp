//===- ElementwiseRegions.cpp - Tensor operations as regions --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseRegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// The constant that every element of `value` is, or null.
static TypedAttr getConstantElement(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    return splat.getSplatValue<TypedAttr>();
  return isa<IntegerAttr, FloatAttr>(attr) ? cast<TypedAttr>(attr)
                                           : TypedAttr();
}

/// Is every element of `value` one scalar?
static bool isUniform(Value value) {
  return getConstantElement(value) || value.getDefiningOp<tensor::SplatOp>();
}

/// The scalar that every element of the uniform tensor `value` is.
static Value getUniformElement(OpBuilder &builder, Value value) {
  if (TypedAttr constant = getConstantElement(value))
    return arith::ConstantOp::create(builder, value.getLoc(), constant);
  return value.getDefiningOp<tensor::SplatOp>().getInput();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isCheapProducer(Operation *op) {
  return isa<CastOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::NegFOp, arith::BitcastOp>(op);
}

/// The operand of `op` that is not uniform, if there is just one.
static OpOperand *getVaryingOperand(Operation *op) {
  OpOperand *varying = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    if (isUniform(operand.get()))
      continue;
    if (varying)
      return nullptr;
    varying = &operand;
  }
  return varying;
}

Value kvfuse::peelProducers(Value value,
                            SmallVectorImpl<Operation *> &producers) {
  while (Operation *op = value.getDefiningOp()) {
    OpOperand *varying = isCheapProducer(op) ? getVaryingOperand(op) : nullptr;
    if (!varying)
      break;
    producers.push_back(op);
    value = varying->get();
  }
  return value;
}

void kvfuse::prependProducers(OpBuilder &builder, Region &region,
                              ArrayRef<Operation *> producers) {
  if (producers.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  Block &body = region.front();
  builder.setInsertionPointToStart(&body);
  BlockArgument old = body.getArgument(0);
  Value source = getVaryingOperand(producers.back())->get();
  Value element =
      body.addArgument(getElementTypeOrSelf(source.getType()), old.getLoc());
  for (Operation *producer : llvm::reverse(producers)) {
    OpOperand *varying = getVaryingOperand(producer);
    IRMapping mapping;
    for (OpOperand &operand : producer->getOpOperands())
      mapping.map(operand.get(),
                  &operand == varying
                      ? element
                      : getUniformElement(builder, operand.get()));
    element = builder.clone(*producer, mapping)->getResult(0);
    element.setType(getElementTypeOrSelf(element.getType()));
  }
  old.replaceAllUsesWith(element);
  body.eraseArgument(0);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Is `value` a root as the region sees it, widened to i64?
bool MaskAbsorber::isRoot(Value value) {
  return getElementTypeOrSelf(value.getType()).isInteger(64) &&
         analysis.lookupRoot(value).has_value();
}

bool MaskAbsorber::canAbsorb(Value value) {
  // What was looked at before has been found good, or the answer is no anyway.
  if (!visited.insert(value).second)
    return true;
  if (isRoot(value) || getConstantElement(value))
    return true;
  Operation *def = value.getDefiningOp();
  return isa_and_nonnull<arith::CmpIOp, arith::AndIOp, arith::OrIOp,
                         arith::XOrIOp, ApplyOp>(def) &&
         llvm::all_of(def->getOperands(),
                      [&](Value operand) { return canAbsorb(operand); });
}

Value MaskAbsorber::absorb(Value value, ValueRange slots) {
  if (Value done = scalars.lookup(value))
    return done;
  Value result;
  if (isRoot(value)) {
    result = slots[*analysis.lookupRoot(value)];
  } else if (TypedAttr constant = getConstantElement(value)) {
    result = arith::ConstantOp::create(builder, value.getLoc(), constant);
  } else {
    Operation *def = value.getDefiningOp();
    IRMapping mapping;
    for (Value operand : def->getOperands())
      mapping.map(operand, absorb(operand, slots));
    result = builder.clone(*def, mapping)->getResult(0);
    result.setType(getElementTypeOrSelf(value.getType()));
  }
  return scalars[value] = result;
}
