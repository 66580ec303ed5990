//===- TorchMasks.cpp - Comparisons in the chain --------------------------===//
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

static std::optional<arith::CmpIPredicate> readPredicate(StringRef name) {
  return llvm::StringSwitch<std::optional<arith::CmpIPredicate>>(name)
      .Cases({"torch.aten.eq.Scalar", "torch.aten.eq.Tensor"},
             arith::CmpIPredicate::eq)
      .Cases({"torch.aten.ne.Scalar", "torch.aten.ne.Tensor"},
             arith::CmpIPredicate::ne)
      .Cases({"torch.aten.lt.Scalar", "torch.aten.lt.Tensor"},
             arith::CmpIPredicate::slt)
      .Cases({"torch.aten.le.Scalar", "torch.aten.le.Tensor"},
             arith::CmpIPredicate::sle)
      .Cases({"torch.aten.gt.Scalar", "torch.aten.gt.Tensor"},
             arith::CmpIPredicate::sgt)
      .Cases({"torch.aten.ge.Scalar", "torch.aten.ge.Tensor"},
             arith::CmpIPredicate::sge)
      .Default(std::nullopt);
}

/// ne(s, c) -> arith.cmpi ne, s, c, in 64 bits.
static Value convertComparison(ChainConverter &chain, Operation *op) {
  std::optional<arith::CmpIPredicate> predicate =
      readPredicate(getTorchName(op));
  if (!predicate || op->getNumOperands() != 2)
    return {};
  Type lhs = getElementType(op->getOperand(0));
  Type rhs = getElementType(op->getOperand(1));
  std::optional<int64_t> scalar = readScalar(op->getOperand(1));
  // Torch compares in the type of the tensor.
  if (!lhs || !isIndexElement(lhs) ||
      (scalar ? !llvm::isIntN(lhs.getIntOrFloatBitWidth(), *scalar)
              : !rhs || !isIndexElement(rhs)))
    return {};
  SmallVector<Value> operands =
      chain.convertElements(op, op->getOperands().take_front(scalar ? 1 : 2));
  if (operands.empty())
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  Value left = widen(builder, loc, operands[0]);
  Value right = scalar ? splatLike(builder, loc, *scalar, left)
                       : widen(builder, loc, operands[1]);
  return arith::CmpIOp::create(builder, loc, *predicate, left, right);
}

/// Operations on booleans -> the same on i1.
template <typename OpT>
static Value convertLogic(ChainConverter &chain, Operation *op) {
  if (!llvm::all_of(op->getOperands(), [](Value value) {
        Type type = getElementType(value);
        return type && type.isSignlessInteger(1);
      }))
    return {};
  SmallVector<Value> operands = chain.convertElements(op, op->getOperands());
  if (operands.empty())
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  // not(x) is x ^ true.
  if (operands.size() == 1)
    operands.push_back(
        splatLike(builder, loc, builder.getBoolAttr(true), operands[0]));
  return OpT::create(builder, loc, operands[0], operands[1]);
}

Conversion torch::getMaskConversion(StringRef name) {
  if (readPredicate(name))
    return convertComparison;
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.__and__.Tensor", "torch.aten.bitwise_and.Tensor",
              "torch.aten.logical_and"},
             convertLogic<arith::AndIOp>)
      .Cases({"torch.aten.__or__.Tensor", "torch.aten.bitwise_or.Tensor",
              "torch.aten.logical_or"},
             convertLogic<arith::OrIOp>)
      .Cases({"torch.aten.bitwise_not", "torch.aten.bitwise_xor.Tensor",
              "torch.aten.logical_not", "torch.aten.logical_xor"},
             convertLogic<arith::XOrIOp>)
      .Default(nullptr);
}
