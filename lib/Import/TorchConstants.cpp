//===- TorchConstants.cpp - Constants and iotas of the chain --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

/// vtensor.literal -> arith.constant
static Value convertLiteral(ChainConverter &chain, Operation *op) {
  auto literal = op->getAttrOfType<DenseElementsAttr>("value");
  RankedTensorType type = readTensorType(op->getResult(0).getType());
  if (!literal || !type || literal.getType().getShape() != type.getShape())
    return {};
  Type element = dropSign(type).getElementType();
  if (literal.getElementType() != element) {
    if (!isIndexElement(type.getElementType()))
      return {};
    literal = literal.bitcast(element);
  }
  return arith::ConstantOp::create(chain.getBuilderAt(op), op->getLoc(),
                                   cast<TypedAttr>(literal));
}

/// full(n, c), zeros_like(x), of a static shape -> arith.constant
static Value convertFull(ChainConverter &chain, Operation *op) {
  RankedTensorType type = readTensorType(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !isIndexElement(type.getElementType()))
    return {};
  std::optional<int64_t> scalar =
      llvm::StringSwitch<std::optional<int64_t>>(getTorchName(op))
          .Cases({"torch.aten.zeros", "torch.aten.zeros_like"}, 0)
          .Cases({"torch.aten.ones", "torch.aten.ones_like"}, 1)
          .Default(std::nullopt);
  if (!scalar && op->getNumOperands() >= 2)
    scalar = readInt(op->getOperand(1));
  if (!scalar ||
      !llvm::isIntN(type.getElementType().getIntOrFloatBitWidth(), *scalar))
    return {};
  OpBuilder &builder = chain.getBuilderAt(op);
  RankedTensorType signless = dropSign(type);
  return arith::ConstantOp::create(
      builder, op->getLoc(),
      DenseElementsAttr::get(
          signless,
          builder.getIntegerAttr(signless.getElementType(), *scalar)));
}

/// The start and the step of an arange, by the number of operands that say so.
static std::optional<std::pair<int64_t, int64_t>> readRange(Operation *op) {
  StringRef name = getTorchName(op);
  if (name == "torch.aten.arange")
    return std::pair(0, 1);
  if (op->getNumOperands() < 3)
    return std::nullopt;
  std::optional<int64_t> start = readInt(op->getOperand(0)), step = 1;
  if (name == "torch.aten.arange.start_step")
    step = readInt(op->getOperand(2));
  if (!start || !step)
    return std::nullopt;
  return std::pair(*start, *step);
}

/// The number of elements of an arange as an index, or nothing.
static FailureOr<SmallVector<Value>> getDynamicSize(ChainConverter &chain,
                                                    Operation *op) {
  RankedTensorType type = readTensorType(op->getResult(0).getType());
  if (type.hasStaticShape())
    return SmallVector<Value>();
  if (getTorchName(op) != "torch.aten.arange")
    return failure();
  FailureOr<OpFoldResult> size = chain.convertSize(op->getOperand(0), op);
  if (failed(size) || isa<Attribute>(*size))
    return failure();
  return SmallVector<Value>{cast<Value>(*size)};
}

/// arange(start, end, step) -> an iota by tensor.generate, and a kv.apply for
/// another start and step than 0 and 1.
static Value convertRange(ChainConverter &chain, Operation *op) {
  RankedTensorType type = readTensorType(op->getResult(0).getType());
  std::optional<std::pair<int64_t, int64_t>> range = readRange(op);
  if (!type || type.getRank() != 1 || op->getNumOperands() < 1 || !range ||
      !type.getElementType().isSignedInteger(64))
    return {};
  FailureOr<SmallVector<Value>> size = getDynamicSize(chain, op);
  if (failed(size))
    return {};
  OpBuilder &builder = chain.getBuilderAt(op);
  Value iota = tensor::GenerateOp::create(
      builder, op->getLoc(), dropSign(type), *size,
      [](OpBuilder &nested, Location loc, ValueRange indices) {
        tensor::YieldOp::create(nested, loc,
                                arith::IndexCastOp::create(nested, loc,
                                                           nested.getI64Type(),
                                                           indices.front()));
      });
  auto [start, step] = *range;
  if (start == 0 && step == 1)
    return iota;
  AffineExpr position = builder.getAffineDimExpr(0) * step + start;
  return kv::ApplyOp::create(builder, op->getLoc(), iota.getType(),
                             AffineMap::get(1, 0, position), iota);
}

Conversion torch::getConstantConversion(StringRef name) {
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.arange", "torch.aten.arange.start",
              "torch.aten.arange.start_step"},
             convertRange)
      .Cases({"torch.aten.full_like", "torch.aten.ones_like",
              "torch.aten.zeros_like", "torch.aten.full", "torch.aten.ones",
              "torch.aten.zeros"},
             convertFull)
      .Case("torch.vtensor.literal", convertLiteral)
      .Default(nullptr);
}
