//===- TorchCopies.cpp - Copies and casts in the chain --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

bool torch::isAlias(Operation *op) {
  static constexpr StringLiteral kNames[] = {"torch.aten.alias",
                                             "torch.aten.detach"};
  return llvm::is_contained(kNames, getTorchName(op)) &&
         op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

/// clone(x) -> x, detach(x) -> x: a value is its own copy.
static Value convertIdentity(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 1 ||
      op->getOperand(0).getType() != op->getResult(0).getType() ||
      !readTensorType(op->getResult(0).getType()))
    return {};
  SmallVector<Value> input = chain.convertElements(op, op->getOperand(0));
  return input.empty() ? Value() : input.front();
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

namespace {
/// What a change of the element type is.
enum class Change { None, Widen, Narrow, Cast, Unknown };
} // namespace

/// A float from an integer, say, and an integer from a float are left alone.
static Change getChange(Type from, Type to) {
  // kv.cast ends at 32 bits.
  auto isCastable = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 32;
  };
  if (from == to)
    return Change::None;
  if (from.isSignedInteger(32) && to.isSignedInteger(64))
    return Change::Widen;
  if (from.isSignedInteger(64) && to.isSignedInteger(32))
    return Change::Narrow;
  return isCastable(from) && isCastable(to) ? Change::Cast : Change::Unknown;
}

/// to.dtype(x) -> x                    the type it has
/// to.dtype(x), si32 to si64 -> arith.extsi(x)
/// to.dtype(x), si64 to si32 -> arith.trunci(x)
/// to.dtype(x), float to float -> kv.cast(x), saturating by torch's version
/// (SC4).
static Value convertElementType(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 2)
    return {};
  RankedTensorType from = readTensorType(op->getOperand(0).getType());
  RankedTensorType to = readTensorType(op->getResult(0).getType());
  std::optional<int64_t> code = readTargetCode(op);
  if (!from || !to || !code || from.getShape() != to.getShape() ||
      getElementTypeOfCode(op->getContext(), *code) != to.getElementType())
    return {};
  Change change = getChange(from.getElementType(), to.getElementType());
  if (change == Change::Unknown)
    return {};
  SmallVector<Value> inputs = chain.convertElements(op, op->getOperand(0));
  if (inputs.empty())
    return {};
  Value input = inputs.front();
  OpBuilder &builder = chain.getBuilderAt(op);
  if (change == Change::None)
    return input;
  if (change == Change::Widen)
    return widen(builder, op->getLoc(), input);
  if (change == Change::Narrow)
    return narrow(builder, op->getLoc(), input, to.getElementType());
  bool saturating = chain.getPolicies().saturatingCasts &&
                    isa<Float8E4M3FNType>(to.getElementType());
  auto type = cast<RankedTensorType>(input.getType());
  return kv::CastOp::create(builder, op->getLoc(),
                            type.clone(to.getElementType()), input, saturating);
}

Conversion torch::getCopyConversion(StringRef name) {
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.alias", "torch.aten.clone", "torch.aten.contiguous",
              "torch.aten.detach", "torch.aten.lift_fresh_copy"},
             convertIdentity)
      .Cases({"torch.aten._to_copy", "torch.aten.to.dtype",
              "torch.prims.convert_element_type"},
             convertElementType)
      .Default(nullptr);
}
