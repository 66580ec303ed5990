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

namespace {
/// Describes the calls of a function, in program order.
class CallDescriber {
public:
  void describe(func::CallOp call, ArrayRef<int64_t> written);

  llvm::json::Array calls;

private:
  llvm::json::Object describeOperand(Value value);
  std::optional<llvm::json::Object> describeContents(Value value);

  llvm::DenseMap<Operation *, int64_t> numbers;
};
} // namespace

/// `value` as {"call": number, "operand": number} where it is what a call
/// leaves in one of its operands.
std::optional<llvm::json::Object> CallDescriber::describeContents(Value value) {
  auto call = value.getDefiningOp<func::CallOp>();
  if (!call || !numbers.contains(call))
    return std::nullopt;
  auto holders = call->getAttrOfType<DenseI64ArrayAttr>(kHoldersAttr);
  unsigned result = cast<OpResult>(value).getResultNumber();
  if (!holders || holders.size() <= result || holders[result] < 0)
    return std::nullopt;
  return llvm::json::Object{{"call", numbers.lookup(call)},
                            {"operand", holders[result]}};
}

/// `value` as the caller's source knows it: {"argument": number}, {"constant":
/// number}, {"size_of": what, "dim": number}, {"call": number, "operand":
/// number}, or {"value": name}, null where its operation has no name.
llvm::json::Object CallDescriber::describeOperand(Value value) {
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
  if (std::optional<llvm::json::Object> contents = describeContents(value))
    return std::move(*contents);
  return llvm::json::Object{{"value", getName(value)}};
}

void CallDescriber::describe(func::CallOp call, ArrayRef<int64_t> written) {
  llvm::json::Array operands;
  for (Value operand : call.getOperands())
    operands.push_back(describeOperand(operand));
  numbers[call] = calls.size();
  calls.push_back(
      llvm::json::Object{{"callee", call.getCallee()},
                         {"location", stringifyLocation(call.getLoc())},
                         {"operands", std::move(operands)},
                         {"writes", listNames(call.getLoc())},
                         {"written", llvm::json::Array(written)}});
}

llvm::json::Array kvfuse::listRepeated(func::FuncOp caller) {
  llvm::json::Array names;
  if (auto repeated = caller->getAttrOfType<ArrayAttr>(kRepeatedAttr))
    llvm::append_range(names, repeated.getAsValueRange<StringAttr>());
  return names;
}

llvm::json::Array kvfuse::describeCalls(func::FuncOp caller) {
  CallDescriber describer;
  caller.walk([&](func::CallOp call) {
    if (auto written = call->getAttrOfType<DenseI64ArrayAttr>(kWrittenAttr))
      describer.describe(call, written);
  });
  return std::move(describer.calls);
}
