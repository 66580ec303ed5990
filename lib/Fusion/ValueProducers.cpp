//===- ValueProducers.cpp - Producers of values as regions ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueProducers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Uniform operands
//===----------------------------------------------------------------------===//

/// The scalar that fills `tensor`, or null.
static Value getFilling(Value tensor) {
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.value();
  return {};
}

/// The constant that every element of `tensor` is, or null.
static TypedAttr getConstantElement(Value tensor) {
  if (Value filling = getFilling(tensor))
    tensor = filling;
  Attribute attr;
  if (!matchPattern(tensor, m_Constant(&attr)))
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    return splat.getSplatValue<TypedAttr>();
  return isa<IntegerAttr, FloatAttr>(attr) ? cast<TypedAttr>(attr)
                                           : TypedAttr();
}

/// The tensor that the elements of `tensor` are moved from.
static Value getMoveSource(Value tensor) {
  ElementAccess access{tensor, {}};
  auto type = cast<RankedTensorType>(tensor.getType());
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    access.coords.push_back(getAffineDimExpr(dim, tensor.getContext()));
  while (std::optional<ElementAccess> source = getMovedFrom(access))
    access = std::move(*source);
  return access.tensor;
}

static bool hasOneElement(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.hasStaticShape() && type.getNumElements() == 1;
}

/// Is every element of `tensor` one scalar?
static bool isUniform(Value tensor) {
  Value source = getMoveSource(tensor);
  return getConstantElement(source) || getFilling(source) ||
         hasOneElement(source);
}

/// The scalar that every element of the uniform `tensor` is: a constant at the
/// insertion point, or what is read before `write`.
static Value getUniformElement(OpBuilder &builder, WriteOp write,
                               Value tensor) {
  Value source = getMoveSource(tensor);
  if (TypedAttr constant = getConstantElement(source))
    return arith::ConstantOp::create(builder, tensor.getLoc(), constant);
  if (Value filling = getFilling(source))
    return filling;
  OpBuilder before(write);
  auto rank = cast<RankedTensorType>(source.getType()).getRank();
  SmallVector<Value> zeros;
  if (rank != 0)
    zeros.append(rank,
                 arith::ConstantIndexOp::create(before, tensor.getLoc(), 0));
  return tensor::ExtractOp::create(before, tensor.getLoc(), source, zeros);
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

bool kvfuse::isScale(Operation *op) {
  return isa<arith::MulFOp, arith::DivFOp>(op);
}

bool kvfuse::roundsToNearest(Operation *op) {
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  return !truncate || truncate.getRoundingmode().value_or(
                          arith::RoundingMode::to_nearest_even) ==
                          arith::RoundingMode::to_nearest_even;
}

static bool isCheapProducer(Operation *op) {
  return isScale(op) ||
         (isa<CastOp, arith::ExtFOp, arith::TruncFOp, arith::MaximumFOp,
              arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
              arith::NegFOp, arith::BitcastOp>(op) &&
          roundsToNearest(op));
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

std::optional<PeeledValues>
kvfuse::peelProducers(ElementAccess values, const GridSplit *split,
                      const ExprRanges &ranges,
                      llvm::function_ref<bool(const ElementAccess &)> canRead) {
  std::optional<PeeledValues> peeled;
  if (canRead(values))
    peeled = {values, {}, {}, values};
  // What was passed since a tensor that can be read.
  SmallVector<Operation *> producers, reshapes;
  bool onlyReshapes = true;
  // Reshapes alone are no gain; moves that have kernels, and producers, are.
  bool isGain = !peeled;
  while (Operation *op = values.tensor.getDefiningOp()) {
    if (std::optional<ElementAccess> source = getMovedFrom(values, split)) {
      values = std::move(*source);
      for (AffineExpr &coord : values.coords)
        coord = simplifyByRanges(coord, ranges);
      reshapes.push_back(op);
      onlyReshapes &= isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
      isGain |= isa<linalg::LinalgOp>(op);
    } else if (OpOperand *varying =
                   isCheapProducer(op) ? getVaryingOperand(op) : nullptr) {
      producers.push_back(op);
      values.tensor = varying->get();
      isGain = true;
    } else {
      break;
    }
    if (!isGain)
      continue;
    if (canRead(values)) {
      peeled = {values, {}, producers, values};
      reshapes.clear();
      onlyReshapes = true;
      isGain = false;
    } else if (peeled && onlyReshapes && !isa<linalg::LinalgOp>(op)) {
      peeled->source.tensor = values.tensor;
      peeled->reshapes = reshapes;
      peeled->producers = producers;
    }
  }
  if (peeled)
    peeled->rest = values;
  return peeled;
}

Value kvfuse::applyReshapes(OpBuilder &builder, Value tensor,
                            ArrayRef<Operation *> reshapes) {
  for (Operation *reshape : llvm::reverse(reshapes)) {
    Operation *again = builder.clone(*reshape);
    again->setOperand(0, tensor);
    auto shape = cast<RankedTensorType>(again->getResult(0).getType());
    again->getResult(0).setType(
        shape.clone(getElementTypeOrSelf(tensor.getType())));
    tensor = again->getResult(0);
  }
  return tensor;
}

void kvfuse::prependProducers(WriteOp write, Region &region,
                              ArrayRef<Operation *> producers) {
  if (producers.empty())
    return;
  Block &body = region.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
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
                      : getUniformElement(builder, write, operand.get()));
    element = builder.clone(*producer, mapping)->getResult(0);
    element.setType(getElementTypeOrSelf(element.getType()));
  }
  old.replaceAllUsesWith(element);
  body.eraseArgument(0);
}
