//===- TorchTypes.cpp - Torch types and constants from text ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchTypes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

StringRef torch::getTorchName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name != "torch.operator")
    return name;
  auto generic = op->getAttrOfType<StringAttr>("name");
  return generic ? generic.getValue() : name;
}

bool torch::isTorchOp(Operation *op) {
  return op->getName().getDialectNamespace() == "torch";
}

bool torch::isAtenOp(Operation *op) {
  StringRef name = getTorchName(op);
  return name.starts_with("torch.aten.") || name.starts_with("torch.prims.");
}

static bool isCastNamed(Operation *op, StringRef name) {
  return op->getName().getStringRef() == name && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

bool torch::isToBuiltin(Operation *op) { return isCastNamed(op, kToBuiltin); }

bool torch::isFromBuiltin(Operation *op) {
  return isCastNamed(op, kFromBuiltin);
}

/// Does `op` give what it takes?
static bool isCopy(Operation *op) {
  static constexpr StringLiteral kNames[] = {
      "torch.aten.clone", "torch.aten.detach", "torch.aten.lift_fresh_copy"};
  return llvm::is_contained(kNames, torch::getTorchName(op)) &&
         op->getNumOperands() > 0 && op->getNumResults() == 1 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

bool torch::isConstantOrList(Operation *op) {
  while (isCopy(op) && op->getOperand(0).getDefiningOp())
    op = op->getOperand(0).getDefiningOp();
  StringRef name = op->getName().getStringRef();
  return name.starts_with("torch.constant.") ||
         name == "torch.vtensor.literal" ||
         name == "torch.prim.NumToTensor.Scalar" ||
         name == "torch.prim.ListConstruct";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct DType {
  int64_t code;
  StringLiteral name;
};
} // namespace

/// Torch's dtype codes and the names that torch-mlir prints.
static constexpr DType kDTypes[] = {
    {0, "ui8"},         {1, "si8"},         {2, "si16"},    {3, "si32"},
    {4, "si64"},        {5, "f16"},         {6, "f32"},     {7, "f64"},
    {11, "i1"},         {15, "bf16"},       {23, "f8E5M2"}, {24, "f8E4M3FN"},
    {25, "f8E5M2FNUZ"}, {26, "f8E4M3FNUZ"},
};

template <typename Pred>
static Type findElementType(MLIRContext *context, Pred pred) {
  const DType *it = llvm::find_if(kDTypes, pred);
  return it == std::end(kDTypes) ? Type() : parseType(it->name, context);
}

Type torch::getElementTypeOfCode(MLIRContext *context, int64_t code) {
  return findElementType(context,
                         [&](const DType &d) { return d.code == code; });
}

std::string torch::toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool torch::isTorchType(Type type) {
  return StringRef(toText(type)).starts_with("!torch.");
}

bool torch::isNoneType(Type type) { return toText(type) == "!torch.none"; }

RankedTensorType torch::readTensorType(Type type) {
  std::string storage = toText(type);
  StringRef text = storage;
  if (!text.consume_front("!torch.vtensor<[") || !text.consume_back(">"))
    return {};
  auto [sizes, element] = text.split("],");
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  sizes.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    uint32_t size;
    if (part == "?")
      shape.push_back(ShapedType::kDynamic);
    else if (!part.getAsInteger(10, size))
      shape.push_back(size);
    else
      return {};
  }
  Type elementType =
      findElementType(type.getContext(), [name = element](const DType &d) {
        return d.name == name;
      });
  return elementType ? RankedTensorType::get(shape, elementType)
                     : RankedTensorType();
}

RankedTensorType torch::dropSign(RankedTensorType type) {
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer)
    return type;
  return type.clone(IntegerType::get(type.getContext(), integer.getWidth()));
}

bool torch::isIndexElement(Type type) {
  return type.isSignedInteger(32) || type.isSignedInteger(64);
}

Type torch::getElementType(Value value) {
  RankedTensorType type = readTensorType(value.getType());
  return type ? type.getElementType() : Type();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Attribute `value` of the operation `name` that defines `value`, or null.
template <typename AttrT>
static AttrT readConstant(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getName().getStringRef() != name)
    return {};
  return op->getAttrOfType<AttrT>("value");
}

std::optional<int64_t> torch::readInt(Value value) {
  auto attr = readConstant<IntegerAttr>(value, "torch.constant.int");
  if (!attr || attr.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return attr.getValue().getSExtValue();
}

std::optional<bool> torch::readBool(Value value) {
  auto attr = readConstant<IntegerAttr>(value, "torch.constant.bool");
  if (!attr)
    return std::nullopt;
  return !attr.getValue().isZero();
}

std::optional<StringRef> torch::readString(Value value) {
  auto attr = readConstant<StringAttr>(value, "torch.constant.str");
  if (!attr)
    return std::nullopt;
  return attr.getValue();
}

bool torch::isNone(Value value) { return isNoneType(value.getType()); }

/// Sees through copies of constants.
static Value skipCopies(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isCopy(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

std::optional<int64_t> torch::readScalar(Value value) {
  if (std::optional<int64_t> constant = readInt(value))
    return constant;
  RankedTensorType type = readTensorType(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      !isIndexElement(type.getElementType()))
    return std::nullopt;
  value = skipCopies(value);
  auto literal =
      readConstant<DenseIntElementsAttr>(value, "torch.vtensor.literal");
  if (literal && literal.isSplat())
    return literal.getSplatValue<APInt>().getSExtValue();
  Operation *op = value.getDefiningOp();
  if (op && op->getName().getStringRef() == "torch.prim.NumToTensor.Scalar" &&
      op->getNumOperands() == 1)
    return readInt(op->getOperand(0));
  return std::nullopt;
}

std::optional<int64_t> torch::readDim(Value value, int64_t rank) {
  std::optional<int64_t> dim = readInt(value);
  if (!dim || *dim < -rank || *dim >= rank)
    return std::nullopt;
  return *dim < 0 ? *dim + rank : *dim;
}

std::optional<double> torch::readFloat(Value value) {
  if (std::optional<int64_t> constant = readInt(value))
    return static_cast<double>(*constant);
  auto attr = readConstant<FloatAttr>(value, "torch.constant.float");
  if (!attr || !attr.getType().isF64())
    return std::nullopt;
  return attr.getValueAsDouble();
}

bool torch::isFunctionArgument(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && arg.getOwner()->isEntryBlock() &&
         isa<FunctionOpInterface>(arg.getOwner()->getParentOp());
}

SmallVector<Value> torch::getFlatOperands(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (std::optional<OperandRange> list = readList(operand))
      llvm::append_range(operands, *list);
    else
      operands.push_back(operand);
  }
  return operands;
}

std::optional<OperandRange> torch::readList(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getName().getStringRef() != "torch.prim.ListConstruct")
    return std::nullopt;
  return op->getOperands();
}
