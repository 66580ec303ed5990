//===- TorchValues.cpp - Floating-point arithmetic of the chain -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Torch computes one operation after the other and rounds each result to its
// type. Products and quotients of narrow floats are computed in 32 bits, where
// a Python scalar is a 32-bit float too.
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

/// Is `type` a float that kv.cast takes to 32 bits?
static bool isScalable(Type type) {
  return type && (type.isF32() || type.isF16() || type.isBF16());
}

static Value castTo(OpBuilder &builder, Location loc, Value tensor,
                    Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == element)
    return tensor;
  return kv::CastOp::create(builder, loc, type.clone(element), tensor,
                            /*saturating=*/false);
}

/// A constant as a float of 32 bits, or null.
static TypedAttr getScale(OpBuilder &builder, Value value) {
  std::optional<double> scalar = readFloat(value);
  if (!scalar)
    return {};
  return builder.getF32FloatAttr(static_cast<float>(*scalar));
}

/// Is `value` a tensor of one element that scales the rows `rows` as it is? A
/// scalar tensor of another type than the rows is not: whether it is
/// rounded to their type first depends on the device.
static bool isScaleTensor(Value value, Value rows) {
  RankedTensorType type = readTensorType(value.getType());
  RankedTensorType rowType = readTensorType(rows.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getRank() <= rowType.getRank() &&
         isScalable(type.getElementType()) &&
         (type.getRank() > 0 ||
          type.getElementType() == rowType.getElementType());
}

/// The only element of `tensor`, as a float of 32 bits, in every element of a
/// tensor like `rows`.
static Value splatElement(OpBuilder &builder, Location loc, Value tensor,
                          Value rows) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> zeros(type.getRank());
  for (Value &zero : zeros)
    zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value element = tensor::ExtractOp::create(builder, loc, tensor, zeros);
  Value splat = tensor::SplatOp::create(
      builder, loc,
      cast<RankedTensorType>(rows.getType()).clone(element.getType()), element,
      tensor::createDynamicDimValues(builder, loc, rows));
  return castTo(builder, loc, splat, builder.getF32Type());
}

/// mul(x, s) -> kv.cast(arith.mulf(kv.cast(x), s)), div the same, for a
/// constant s or one element.
template <typename OpT>
static Value convertScale(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() != 2)
    return {};
  Value rows = op->getOperand(0), scale = op->getOperand(1);
  Type element = getElementType(rows),
       result = getElementType(op->getResult(0));
  if (!isScalable(element) || !isScalable(result))
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  TypedAttr constant = getScale(builder, scale);
  if (!constant && !isScaleTensor(scale, rows))
    return {};
  SmallVector<Value> converted = chain.convertElements(op, rows);
  if (converted.empty())
    return {};
  Value factor = constant ? Value() : chain.convert(scale);
  chain.getBuilderAt(op);
  Value wide = castTo(builder, loc, converted.front(), builder.getF32Type());
  factor = constant ? splatLike(builder, loc, constant, wide)
                    : splatElement(builder, loc, factor, wide);
  Value scaled = OpT::create(builder, loc, wide, factor);
  return castTo(builder, loc, scaled, result);
}

/// neg(x) -> arith.negf(x)
static Value convertNegation(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() != 1 ||
      op->getOperand(0).getType() != op->getResult(0).getType() ||
      !isScalable(getElementType(op->getResult(0))))
    return {};
  SmallVector<Value> rows = chain.convertElements(op, op->getOperand(0));
  if (rows.empty())
    return {};
  return arith::NegFOp::create(chain.getBuilderAt(op), op->getLoc(),
                               rows.front());
}

/// A bound of a clamp in the type of its rows. Of two zeros torch takes either,
/// by the device, and a NaN is everybody's own: neither is a bound here.
static FailureOr<TypedAttr> getBound(Value value, Type element) {
  std::optional<double> bound = readFloat(value);
  if (!bound)
    return failure();
  APFloat rounded(*bound);
  bool losesInfo;
  rounded.convert(cast<FloatType>(element).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
  if (rounded.isNaN() || rounded.isZero())
    return failure();
  return TypedAttr(FloatAttr::get(element, rounded));
}

/// clamp(x, low, high) -> arith.minimumf(arith.maximumf(x, low), high), which
/// keeps NaN as torch does; each bound where it is given.
static Value convertClamp(ChainConverter &chain, Operation *op) {
  Type element = getElementType(op->getResult(0));
  if (op->getNumOperands() < 2 || !isScalable(element) ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return {};
  TypedAttr low, high;
  bool isUpper = getTorchName(op) == "torch.aten.clamp_max";
  for (auto [number, bound] : llvm::enumerate(op->getOperands().drop_front())) {
    if (isNone(bound))
      continue;
    FailureOr<TypedAttr> attr = getBound(bound, element);
    if (failed(attr))
      return {};
    (number == 1 || isUpper ? high : low) = *attr;
  }
  SmallVector<Value> rows = chain.convertElements(op, op->getOperand(0));
  if (rows.empty())
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  Value result = rows.front();
  if (low)
    result = arith::MaximumFOp::create(builder, loc, result,
                                       splatLike(builder, loc, low, result));
  if (high)
    result = arith::MinimumFOp::create(builder, loc, result,
                                       splatLike(builder, loc, high, result));
  return result;
}

/// view(x) with another element type of the same width -> arith.bitcast(x)
static Value convertBitcast(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() != 2)
    return {};
  RankedTensorType from = readTensorType(op->getOperand(0).getType());
  RankedTensorType to = readTensorType(op->getResult(0).getType());
  if (!from || !to || from.getShape() != to.getShape() ||
      from.getElementTypeBitWidth() != to.getElementTypeBitWidth() ||
      // A bool is a byte in torch.
      from.getElementTypeBitWidth() < 8)
    return {};
  SmallVector<Value> rows = chain.convertElements(op, op->getOperand(0));
  if (rows.empty())
    return {};
  Type element = dropSign(to).getElementType();
  auto type = cast<RankedTensorType>(rows.front().getType());
  if (type.getElementType() == element)
    return rows.front();
  if (type.getElementTypeBitWidth() != element.getIntOrFloatBitWidth())
    return {};
  return arith::BitcastOp::create(chain.getBuilderAt(op), op->getLoc(),
                                  type.clone(element), rows.front());
}

Conversion torch::getBitcastConversion(StringRef name) {
  return name == "torch.aten.view.dtype" ? convertBitcast : nullptr;
}

Conversion torch::getValueConversion(StringRef name) {
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.mul.Scalar", "torch.aten.mul.Tensor"},
             convertScale<arith::MulFOp>)
      .Cases({"torch.aten.div.Scalar", "torch.aten.div.Tensor"},
             convertScale<arith::DivFOp>)
      .Case("torch.aten.neg", convertNegation)
      .Cases(
          {"torch.aten.clamp", "torch.aten.clamp_max", "torch.aten.clamp_min"},
          convertClamp)
      .Default(nullptr);
}
