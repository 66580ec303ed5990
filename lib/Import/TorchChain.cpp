//===- TorchChain.cpp - What feeds a cache write, from torch to kv --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchChain.h"

#include "TorchConversions.h"
#include "TorchShapes.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// From value to value
//===----------------------------------------------------------------------===//

static Conversion getConversion(Operation *op) {
  if (op->getNumResults() != 1)
    return nullptr;
  Type element = getElementType(op->getResult(0));
  if (!element)
    return nullptr;
  // A name may mean arithmetic on integers or on floats.
  auto getArithmetic = isa<FloatType>(element)   ? getValueConversion
                       : isIndexElement(element) ? getIndexConversion
                                                 : getMaskConversion;
  StringRef name = getTorchName(op);
  for (auto get :
       {getArithmetic, getCopyConversion, getConstantConversion,
        getShapeConversion, getBitcastConversion, getCompressConversion})
    if (Conversion conversion = get(name))
      return conversion;
  return nullptr;
}

ChainConverter::ChainConverter(Operation *func, const Policies &policies)
    : policies(policies), func(func), dominance(func),
      builder(func->getContext()) {
  func->walk([&](Operation *op) { original.insert(op); });
}

SmallVector<Operation *> ChainConverter::getConvertedOps() const {
  SmallVector<Operation *> ops(convertedOps.getArrayRef());
  func->walk([&](Operation *op) {
    // What is inside a new operation goes with it.
    if (!original.contains(op) && original.contains(op->getParentOp()) &&
        !isa<kv::WriteOp>(op) &&
        (wouldOpBeTriviallyDead(op) || isToBuiltin(op)))
      ops.push_back(op);
  });
  return ops;
}

Value ChainConverter::convertWhole(Value value) {
  if (Value known = builtins.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  Conversion conversion = op ? getConversion(op) : nullptr;
  Value converted = conversion ? conversion(*this, op) : Value();
  if (converted) {
    convertedOps.insert(op);
  } else {
    compressions.erase(value);
    converted = enterOnce(value);
  }
  record(value, converted);
  return converted;
}

Value ChainConverter::convert(Value value) {
  Value whole = convertWhole(value);
  return getCompression(value) ? enterOnce(value) : whole;
}

const Compression *ChainConverter::getCompression(Value value) const {
  auto it = compressions.find(value);
  return it == compressions.end() ? nullptr : &it->second;
}

SmallVector<Value> ChainConverter::convertIndices(ValueRange indices,
                                                  Operation *write) {
  SmallVector<Value> converted = llvm::map_to_vector(
      indices, [&](Value index) { return convertWhole(index); });
  builder.setInsertionPoint(write);
  return broadcastTogether(builder, write->getLoc(), converted);
}

Value ChainConverter::convertCache(Value value) {
  // A cast or a copy of a cache is another tensor: writing it must not look
  // like writing the cache.
  Operation *op = value.getDefiningOp();
  if (op && isAlias(op)) {
    Value converted = convertCache(op->getOperand(0));
    convertedOps.insert(op);
    record(value, converted);
    return converted;
  }
  Value known = builtins.lookup(value);
  if (!known || (op && getCopyConversion(getTorchName(op)))) {
    known = enterOnce(value);
    record(value, known);
  }
  return known;
}

/// Where the chain begins: x -> to_builtin_tensor(x), one for each x.
Value ChainConverter::enterOnce(Value value) {
  Value &known = entered[value];
  if (!known) {
    builder.setInsertionPointAfterValue(value);
    OperationState state(value.getLoc(), kToBuiltin, value,
                         dropSign(readTensorType(value.getType())));
    known = builder.create(state)->getResult(0);
  }
  return known;
}

FailureOr<OpFoldResult> ChainConverter::convertSize(Value value,
                                                    Operation *op) {
  if (std::optional<int64_t> constant = readInt(value))
    return OpFoldResult(builder.getIndexAttr(*constant));
  Operation *def = value.getDefiningOp();
  if (!def || getTorchName(def) != "torch.aten.size.int" ||
      def->getNumOperands() != 2)
    return failure();
  RankedTensorType type = readTensorType(def->getOperand(0).getType());
  std::optional<int64_t> dim = readInt(def->getOperand(1));
  if (!type || !dim || *dim < 0 || *dim >= type.getRank())
    return failure();
  Value tensor = convert(def->getOperand(0));
  convertedOps.insert(def);
  builder.setInsertionPoint(op);
  return tensor::getMixedSize(builder, op->getLoc(), tensor, *dim);
}

/// Element by element an operand is compressed as the result is, or it is
/// repeated along what is picked.
SmallVector<Value> ChainConverter::convertElements(Operation *op,
                                                   ValueRange values) {
  SmallVector<Value> converted;
  int64_t rank = readTensorType(op->getResult(0).getType()).getRank();
  std::optional<Compression> compression;
  for (Value value : values) {
    converted.push_back(convertWhole(value));
    const Compression *own = getCompression(value);
    if (!own)
      continue;
    // Counted from the right, where torch aligns the shapes.
    int64_t dim = own->dim - readTensorType(value.getType()).getRank();
    if (!compression)
      compression = Compression{own->mask, dim + rank, own->cause};
    else if (compression->dim != dim + rank ||
             !isEquivalent(compression->mask, own->mask))
      return {};
  }
  for (Value value : values) {
    if (!compression || getCompression(value))
      continue;
    RankedTensorType type = readTensorType(value.getType());
    int64_t dim = compression->dim - rank + type.getRank();
    if (dim >= 0 && type.getDimSize(dim) != 1)
      return {};
  }
  if (compression)
    setCompression(op->getResult(0), *compression);
  builder.setInsertionPoint(op);
  return broadcastTogether(builder, op->getLoc(), converted);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value torch::widen(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType().isInteger(64))
    return tensor;
  return arith::ExtSIOp::create(builder, loc, type.clone(builder.getI64Type()),
                                tensor);
}

Value torch::narrow(OpBuilder &builder, Location loc, Value tensor,
                    Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned width = element.getIntOrFloatBitWidth();
  if (type.getElementTypeBitWidth() <= width)
    return tensor;
  return arith::TruncIOp::create(
      builder, loc, type.clone(builder.getIntegerType(width)), tensor);
}

Value torch::splatLike(OpBuilder &builder, Location loc, TypedAttr scalar,
                       Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type.clone(scalar.getType()), scalar));
  Value constant = arith::ConstantOp::create(builder, loc, scalar);
  return tensor::SplatOp::create(
      builder, loc, type.clone(scalar.getType()), constant,
      tensor::createDynamicDimValues(builder, loc, tensor));
}

Value torch::splatLike(OpBuilder &builder, Location loc, int64_t scalar,
                       Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return splatLike(builder, loc, builder.getIntegerAttr(element, scalar),
                   tensor);
}
