//===- TorchDivisions.cpp - Divisions, shifts and masks of bits -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchRoots.h"
#include "TorchTypes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

namespace {
struct Division {
  bool remainder;
  bool truncates;
  int64_t divisor;
};
} // namespace

/// The division by a constant that `op` is, on integers of one type.
static std::optional<Division> readDivision(Operation *op) {
  if (op->getNumOperands() < 2 ||
      op->getOperand(0).getType() != op->getResult(0).getType() ||
      !isIndexArithmetic(op, op->getOperand(0)))
    return std::nullopt;
  std::optional<int64_t> divisor = readScalar(op->getOperand(1));
  if (!divisor || *divisor <= 0 ||
      (getElementType(op->getResult(0)).isSignedInteger(32) &&
       !llvm::isInt<32>(*divisor)))
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
static Value convertDivision(ChainConverter &chain, Operation *op) {
  std::optional<Division> division = readDivision(op);
  if (!division)
    return {};
  SmallVector<Value> inputs = chain.convertElements(op, op->getOperand(0));
  if (inputs.empty())
    return {};
  Value input = inputs.front();
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  bool excludesNegative =
      chain.getPolicies().excludesNegative() && keepsSign(input);
  if (!division->truncates || excludesNegative) {
    Value wide = widen(builder, loc, input);
    AffineExpr slot = builder.getAffineDimExpr(0);
    AffineExpr result = division->remainder ? slot % division->divisor
                                            : slot.floorDiv(division->divisor);
    return kv::ApplyOp::create(builder, loc, wide.getType(),
                               AffineMap::get(1, 0, result), wide);
  }
  Value divisor = splatLike(builder, loc, division->divisor, input);
  if (division->remainder)
    return arith::RemSIOp::create(builder, loc, input, divisor);
  return arith::DivSIOp::create(builder, loc, input, divisor);
}

/// s & c, s << c and s >> c with a constant.
template <typename OpT>
static Value convertBits(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 2 ||
      op->getOperand(0).getType() != op->getResult(0).getType() ||
      !isIndexArithmetic(op, op->getOperand(0)))
    return {};
  std::optional<int64_t> constant = readScalar(op->getOperand(1));
  int64_t width = getElementType(op->getResult(0)).getIntOrFloatBitWidth();
  bool isShift = !std::is_same_v<OpT, arith::AndIOp>;
  // Shifts beyond the width mean something else in arith.
  if (!constant || !llvm::isIntN(width, *constant) ||
      (isShift && (*constant < 0 || *constant >= width)))
    return {};
  SmallVector<Value> input = convertIndexOperands(chain, op, op->getOperand(0));
  if (input.empty())
    return {};
  OpBuilder &builder = chain.getBuilderAt(op);
  return OpT::create(
      builder, op->getLoc(), input.front(),
      splatLike(builder, op->getLoc(), *constant, input.front()));
}

static bool isDivision(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"torch.aten.div.Scalar_mode", "torch.aten.div.Tensor_mode",
              "torch.aten.floor_divide", "torch.aten.floor_divide.Scalar",
              "torch.aten.fmod.Scalar", "torch.aten.fmod.Tensor",
              "torch.aten.remainder.Scalar", "torch.aten.remainder.Tensor"},
             true)
      .Default(false);
}

Operation *torch::findDynamicDivision(ValueRange indices) {
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  // What is computed in torch is no part of the chain.
  options.filter = [](Operation *op) { return !isTorchOp(op); };
  options.inclusive = true;
  for (Value index : indices) {
    SetVector<Operation *> chain;
    if (failed(getBackwardSlice(index, &chain, options)))
      continue;
    for (Operation *op : chain) {
      Operation *root =
          isToBuiltin(op) ? op->getOperand(0).getDefiningOp() : nullptr;
      if (root && isDivision(getTorchName(root)) &&
          root->getNumOperands() > 1 &&
          !readTensorType(root->getOperand(1).getType()) &&
          !readInt(root->getOperand(1)))
        return root;
    }
  }
  return nullptr;
}

Conversion torch::getDivisionConversion(StringRef name) {
  if (isDivision(name))
    return convertDivision;
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.__rshift__.Scalar",
              "torch.aten.bitwise_right_shift.Tensor",
              "torch.aten.bitwise_right_shift.Tensor_Scalar"},
             convertBits<arith::ShRSIOp>)
      .Cases({"torch.aten.__lshift__.Scalar",
              "torch.aten.bitwise_left_shift.Tensor",
              "torch.aten.bitwise_left_shift.Tensor_Scalar"},
             convertBits<arith::ShLIOp>)
      .Cases({"torch.aten.__and__.Scalar", "torch.aten.bitwise_and.Scalar"},
             convertBits<arith::AndIOp>)
      .Default(nullptr);
}
