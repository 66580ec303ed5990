//===- ReportCalls.cpp - Calls of outlined functions -------------------------
//===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportCalls.h"

#include "kvfuse/Fusion/Passes.h"
#include "kvfuse/Fusion/TypeCasts.h"
#include "kvfuse/Target/Report.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kvfuse;

/// Names in `loc`, those of locations that it is fused of included.
static llvm::json::Array listNames(Location loc) {
  llvm::json::Array names;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.push_back(name.getName().getValue());
    return WalkResult::advance();
  });
  return names;
}

/// The name of `value` in the source, or null. An operation with several
/// results may have a name for each.
static llvm::json::Value getName(Value value) {
  llvm::json::Array names = listNames(value.getLoc());
  if (names.empty())
    return nullptr;
  auto result = dyn_cast<OpResult>(value);
  bool eachIsNamed =
      result && names.size() == result.getOwner()->getNumResults();
  // The names of a call are those of its writes: they do not say which of them
  // made which result.
  if (!eachIsNamed && names.size() > 1 && value.getDefiningOp<func::CallOp>())
    return nullptr;
  return std::move(names[eachIsNamed ? result.getResultNumber() : 0]);
}

/// `value` as the caller's source knows it: {"argument": number}, {"constant":
/// number}, {"size_of": what, "dim": number}, or {"value": name}, null where
/// its operation has no name.
static llvm::json::Object describeOperand(Value value) {
  value = stripTypeCasts(value);
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return llvm::json::Object{{"constant", constant.getInt()}};
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> number = dim.getConstantIndex())
      return llvm::json::Object{{"size_of", describeOperand(dim.getSource())},
                                {"dim", *number}};
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return llvm::json::Object{{"argument", argument.getArgNumber()}};
  return llvm::json::Object{{"value", getName(value)}};
}

llvm::json::Array kvfuse::describeCalls(func::FuncOp caller) {
  llvm::json::Array calls;
  caller.walk([&](func::CallOp call) {
    auto written = call->getAttrOfType<DenseI64ArrayAttr>(kWrittenAttr);
    if (!written)
      return;
    llvm::json::Array operands;
    for (Value operand : call.getOperands())
      operands.push_back(describeOperand(operand));
    calls.push_back(llvm::json::Object{
        {"callee", call.getCallee()},
        {"location", stringifyLocation(call.getLoc())},
        {"operands", std::move(operands)},
        {"writes", listNames(call.getLoc())},
        {"written", llvm::json::Array(written.asArrayRef())}});
  });
  return calls;
}
