//===- TorchChain.cpp - What feeds a cache write, from torch to kv --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchChain.h"

#include "TorchShapes.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// From value to value
//===----------------------------------------------------------------------===//

ChainConverter::Conversion ChainConverter::getConversion(Operation *op) {
  if (op->getNumOperands() < 1 || op->getNumResults() != 1)
    return nullptr;
  return llvm::StringSwitch<Conversion>(getTorchName(op))
      .Cases({"torch.aten.alias", "torch.aten.detach"},
             &ChainConverter::convertIdentity)
      .Cases({"torch.aten._to_copy", "torch.aten.to.dtype",
              "torch.prims.convert_element_type"},
             &ChainConverter::convertElementType)
      .Cases({"torch.aten.div.Scalar_mode", "torch.aten.div.Tensor_mode",
              "torch.aten.floor_divide", "torch.aten.floor_divide.Scalar",
              "torch.aten.fmod.Scalar", "torch.aten.fmod.Tensor",
              "torch.aten.remainder.Scalar", "torch.aten.remainder.Tensor"},
             &ChainConverter::convertDivision)
      .Default(nullptr);
}

Value ChainConverter::convert(Value value) {
  if (Value known = builtins.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  Conversion conversion = op ? getConversion(op) : nullptr;
  Value converted = conversion ? (this->*conversion)(op) : Value();
  if (!converted)
    return enter(value);
  convertedOps.insert(op);
  record(value, converted);
  return converted;
}

SmallVector<Value> ChainConverter::convertIndices(ValueRange indices,
                                                  Operation *write) {
  SmallVector<Value> converted =
      llvm::map_to_vector(indices, [&](Value index) { return convert(index); });
  builder.setInsertionPoint(write);
  return broadcastTogether(builder, write->getLoc(), converted);
}

Value ChainConverter::convertCache(Value value) {
  // A cast or a copy of a cache is another tensor: writing it must not look
  // like writing the cache.
  Operation *op = value.getDefiningOp();
  if (op && getConversion(op) == &ChainConverter::convertIdentity &&
      op->getOperandTypes().front() == value.getType()) {
    Value converted = convertCache(op->getOperand(0));
    convertedOps.insert(op);
    record(value, converted);
    return converted;
  }
  Value known = builtins.lookup(value);
  return known ? known : enter(value);
}

/// Where the chain begins: x -> to_builtin_tensor(x), one for each x.
Value ChainConverter::enter(Value value) {
  builder.setInsertionPointAfterValue(value);
  OperationState state(value.getLoc(), kToBuiltin, value,
                       dropSign(readTensorType(value.getType())));
  Value entered = builder.create(state)->getResult(0);
  record(value, entered);
  return entered;
}

/// aten.detach(x) -> x, aten.alias(x) -> x.
Value ChainConverter::convertIdentity(Operation *op) {
  if (op->getOperand(0).getType() != op->getResult(0).getType())
    return {};
  return convert(op->getOperand(0));
}

/// The dtype code of a conversion. `_to_copy` may also move the tensor to
/// another device or layout, which is no conversion.
static std::optional<int64_t> readTargetCode(Operation *op) {
  if (op->getNumOperands() < 2)
    return std::nullopt;
  if (getTorchName(op) == "torch.aten._to_copy" &&
      (op->getNumOperands() < 5 ||
       !llvm::all_of(op->getOperands().slice(2, 3), isNone)))
    return std::nullopt;
  return readInt(op->getOperand(1));
}

/// to.dtype(x) -> x                    the type it has
/// to.dtype(x), si32 to si64 -> arith.extsi(x)
/// to.dtype(x), float to float -> kv.cast(x), saturating by torch's version
/// (SC4). Anything else, a float from an integer say, is left alone.
Value ChainConverter::convertElementType(Operation *op) {
  Value input = op->getOperand(0);
  RankedTensorType from = readTensorType(input.getType());
  RankedTensorType to = readTensorType(op->getResult(0).getType());
  std::optional<int64_t> code = readTargetCode(op);
  if (!from || !to || !code || from.getShape() != to.getShape() ||
      getElementTypeOfCode(op->getContext(), *code) != to.getElementType())
    return {};
  if (from == to)
    return convert(input);

  Type fromElement = from.getElementType(), toElement = to.getElementType();
  if (fromElement.isSignedInteger(32) && toElement.isSignedInteger(64)) {
    Value converted = convert(input);
    builder.setInsertionPoint(op);
    return widen(op->getLoc(), converted);
  }
  // kv.cast ends at 32 bits.
  auto isCastable = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 32;
  };
  if (!isCastable(fromElement) || !isCastable(toElement))
    return {};
  Value converted = convert(input);
  builder.setInsertionPoint(op);
  bool saturating =
      policies.saturatingCasts && isa<Float8E4M3FNType>(toElement);
  return kv::CastOp::create(builder, op->getLoc(), to, converted, saturating);
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

namespace {
struct Division {
  bool remainder;
  bool truncates;
  int64_t divisor;
};
} // namespace

/// The division by a constant that `op` is, on integers of one type.
static std::optional<Division> readDivision(Operation *op) {
  if (op->getNumOperands() < 2)
    return std::nullopt;
  RankedTensorType type = readTensorType(op->getOperand(0).getType());
  if (!type || op->getOperand(0).getType() != op->getResult(0).getType())
    return std::nullopt;
  Type element = type.getElementType();
  std::optional<int64_t> divisor = readScalar(op->getOperand(1));
  if (!divisor || *divisor <= 0)
    return std::nullopt;
  if (!element.isSignedInteger(64) &&
      !(element.isSignedInteger(32) && llvm::isInt<32>(*divisor)))
    return std::nullopt;

  StringRef name = getTorchName(op);
  if (!name.starts_with("torch.aten.div."))
    return Division{name.contains(".remainder") || name.contains(".fmod"),
                    name.contains(".fmod"), *divisor};
  std::optional<StringRef> mode;
  if (op->getNumOperands() >= 3)
    mode = readString(op->getOperand(2));
  if (mode != "floor" && mode != "trunc")
    return std::nullopt;
  return Division{/*remainder=*/false, /*truncates=*/mode == "trunc", *divisor};
}

/// floor_divide(s, P) -> kv.apply (s floordiv P)
/// remainder(s, P) -> kv.apply (s mod P)
/// for P > 0 and in 64 bits; the results fit into torch's type again. So do
/// trunc division and fmod where no negative s is examined (SX3), else
/// trunc(s / P) -> arith.divsi(s, P), fmod(s, P) -> arith.remsi(s, P).
Value ChainConverter::convertDivision(Operation *op) {
  std::optional<Division> division = readDivision(op);
  if (!division)
    return {};
  Location loc = op->getLoc();
  Value input = convert(op->getOperand(0));
  builder.setInsertionPoint(op);
  if (!division->truncates || policies.excludesNegative()) {
    Value wide = widen(loc, input);
    AffineExpr slot = builder.getAffineDimExpr(0);
    AffineExpr result = division->remainder ? slot % division->divisor
                                            : slot.floorDiv(division->divisor);
    return kv::ApplyOp::create(builder, loc, wide.getType(),
                               AffineMap::get(1, 0, result), wide);
  }
  Value divisor = splatLike(loc, division->divisor, input);
  if (division->remainder)
    return arith::RemSIOp::create(builder, loc, input, divisor);
  return arith::DivSIOp::create(builder, loc, input, divisor);
}

Value ChainConverter::widen(Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType().isInteger(64))
    return tensor;
  return arith::ExtSIOp::create(builder, loc, type.clone(builder.getI64Type()),
                                tensor);
}

/// `scalar` in every element of a tensor of the type of `tensor`.
Value ChainConverter::splatLike(Location loc, int64_t scalar, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto attr = builder.getIntegerAttr(type.getElementType(), scalar);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, attr));
  Value constant = arith::ConstantOp::create(builder, loc, attr);
  return tensor::SplatOp::create(
      builder, loc, type, constant,
      tensor::createDynamicDimValues(builder, loc, tensor));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// What `index` is computed from: the operations that the chain is made of have
/// one tensor operand, the first.
static Value getRoot(Value index) {
  while (isa_and_nonnull<arith::DivSIOp, arith::ExtSIOp, arith::RemSIOp,
                         kv::ApplyOp>(index.getDefiningOp()))
    index = index.getDefiningOp()->getOperand(0);
  return index;
}

Value ChainConverter::compareWith(Location loc, arith::CmpIPredicate pred,
                                  Value slots, int64_t scalar) {
  return arith::CmpIOp::create(builder, loc, pred, slots,
                               splatLike(loc, scalar, slots));
}

/// slots >= 0 (SX4), slots != reserved (SX6), or both.
Value ChainConverter::getRootMask(Value root, Operation *write) {
  Value &mask = rootMasks[root];
  if (mask && dominance.properlyDominates(mask, write))
    return mask;
  builder.setInsertionPoint(write);
  Location loc = write->getLoc();
  Value slots = widen(loc, root);
  mask = {};
  if (policies.skipNegative)
    mask = compareWith(loc, arith::CmpIPredicate::sge, slots, 0);
  if (policies.reservedSlot) {
    Value isUsed = compareWith(loc, arith::CmpIPredicate::ne, slots,
                               *policies.reservedSlot);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, isUsed) : isUsed;
  }
  return mask;
}

Value ChainConverter::combineMasks(Value lhs, Value rhs, Operation *write) {
  Value &both = conjunctions[{lhs, rhs}];
  if (!both || !dominance.properlyDominates(both, write)) {
    builder.setInsertionPoint(write);
    both = arith::AndIOp::create(builder, write->getLoc(), lhs, rhs);
  }
  return both;
}

FailureOr<Value> ChainConverter::getMask(ValueRange indices, Operation *write) {
  if (!policies.skipNegative && !policies.reservedSlot)
    return Value();
  llvm::SetVector<Value> roots;
  for (Value index : indices)
    roots.insert(getRoot(index));
  // Offset 0 of some page is not slot 0. What is negative is padding wherever
  // it stands.
  if (roots.size() > 1 && policies.reservedSlot.value_or(-1) >= 0) {
    emitError(write->getLoc(), "SX6: reserved slot ")
        << *policies.reservedSlot << " cannot be told from indices that come "
        << "from " << roots.size() << " tensors instead of one";
    return failure();
  }
  Value mask;
  for (Value root : roots) {
    Value rootMask = getRootMask(root, write);
    mask = mask ? combineMasks(mask, rootMask, write) : rootMask;
  }
  return mask;
}
