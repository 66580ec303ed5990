//===- TorchIndices.cpp - Integer arithmetic of the chain -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

bool torch::isIndexArithmetic(Operation *op, ValueRange values) {
  Type result = getElementType(op->getResult(0));
  return result && isIndexElement(result) &&
         llvm::all_of(values, [&](Value value) {
           Type type = getElementType(value);
           return type && isIndexElement(type) &&
                  type.getIntOrFloatBitWidth() <=
                      result.getIntOrFloatBitWidth();
         });
}

SmallVector<Value> torch::convertIndexOperands(ChainConverter &chain,
                                               Operation *op,
                                               ValueRange values) {
  Type element = getElementType(op->getResult(0));
  SmallVector<Value> converted = chain.convertElements(op, values);
  OpBuilder &builder = chain.getBuilderAt(op);
  for (Value &value : converted)
    value = element.isSignedInteger(64)
                ? widen(builder, op->getLoc(), value)
                : narrow(builder, op->getLoc(), value, element);
  return converted;
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

namespace {
/// The sum of `tensors`, each times its factor, and of a constant.
struct LinearForm {
  SmallVector<Value> tensors;
  SmallVector<int64_t> factors;
  int64_t constant = 0;

  /// Adds `factor` times `value`, a tensor or a constant.
  LogicalResult add(Value value, int64_t factor) {
    if (std::optional<int64_t> scalar = readScalar(value)) {
      std::optional<int64_t> sum =
          llvm::checkedMulAdd(*scalar, factor, constant);
      if (!sum)
        return failure();
      constant = *sum;
      return success();
    }
    tensors.push_back(value);
    factors.push_back(factor);
    return success(readTensorType(value.getType()) != nullptr);
  }
};
} // namespace

/// The factor of the second operand of a sum.
static std::optional<int64_t> readAlpha(Operation *op) {
  return op->getNumOperands() < 3 ? 1 : readInt(op->getOperand(2));
}

/// add(x, y, alpha) is x + alpha * y, sub its counterpart, rsub the same with x
/// and y exchanged.
static FailureOr<LinearForm> readSum(Operation *op) {
  if (op->getNumOperands() < 2)
    return failure();
  std::optional<int64_t> alpha = readAlpha(op);
  if (!alpha || *alpha == std::numeric_limits<int64_t>::min())
    return failure();
  StringRef name = getTorchName(op);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (name.starts_with("torch.aten.rsub."))
    std::swap(lhs, rhs);
  LinearForm form;
  bool isSum = name.starts_with("torch.aten.add.");
  // The factor of rsub belongs to its first operand, which is subtracted.
  if (failed(form.add(lhs, 1)) ||
      failed(form.add(rhs, isSum ? *alpha : -*alpha)))
    return failure();
  return form;
}

/// mul(x, c) and neg(x).
static FailureOr<LinearForm> readProduct(Operation *op) {
  LinearForm form;
  if (op->getNumOperands() == 1) {
    if (failed(form.add(op->getOperand(0), -1)))
      return failure();
    return form;
  }
  Value factor = op->getOperand(1), tensor = op->getOperand(0);
  if (!readScalar(factor))
    std::swap(factor, tensor);
  std::optional<int64_t> scalar = readScalar(factor);
  if (!scalar || failed(form.add(tensor, *scalar)))
    return failure();
  return form;
}

/// In 64 bits a linear form is a kv.apply.
static Value buildApply(OpBuilder &builder, Location loc,
                        const LinearForm &form, ValueRange tensors) {
  AffineExpr sum = builder.getAffineConstantExpr(form.constant);
  for (auto [dim, factor] : llvm::enumerate(form.factors))
    sum = sum + builder.getAffineDimExpr(dim) * factor;
  return kv::ApplyOp::create(builder, loc, tensors.front().getType(),
                             AffineMap::get(tensors.size(), 0, sum), tensors);
}

/// In 32 bits it is arith operations, which wrap around: whether they do is for
/// kv-fuse-chains to find out (SX3).
static Value buildArith(OpBuilder &builder, Location loc,
                        const LinearForm &form, ValueRange tensors) {
  Value sum;
  for (auto [tensor, factor] : llvm::zip_equal(tensors, form.factors)) {
    Value term = tensor;
    if (std::abs(factor) != 1)
      term = arith::MulIOp::create(builder, loc, term,
                                   splatLike(builder, loc, factor, tensor));
    if (factor == -1)
      sum = arith::SubIOp::create(
          builder, loc, sum ? sum : splatLike(builder, loc, 0, tensor), term);
    else
      sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  }
  if (form.constant != 0)
    sum = arith::AddIOp::create(builder, loc, sum,
                                splatLike(builder, loc, form.constant, sum));
  return sum;
}

static Value convertLinear(ChainConverter &chain, Operation *op,
                           FailureOr<LinearForm> form) {
  if (failed(form) || form->tensors.empty() ||
      !isIndexArithmetic(op, form->tensors))
    return {};
  bool isWide = getElementType(op->getResult(0)).isSignedInteger(64);
  auto fits = [](int64_t constant) { return llvm::isInt<32>(constant); };
  if (!isWide && !(llvm::all_of(form->factors, fits) && fits(form->constant)))
    return {};
  SmallVector<Value> tensors = convertIndexOperands(chain, op, form->tensors);
  if (tensors.empty())
    return {};
  return (isWide ? buildApply : buildArith)(chain.getBuilderAt(op),
                                            op->getLoc(), *form, tensors);
}

static Value convertSum(ChainConverter &chain, Operation *op) {
  return convertLinear(chain, op, readSum(op));
}

template <typename OpT>
static Value convertBinary(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 2 ||
      !isIndexArithmetic(op, op->getOperands().take_front(2)))
    return {};
  SmallVector<Value> operands =
      convertIndexOperands(chain, op, op->getOperands().take_front(2));
  if (operands.empty())
    return {};
  return OpT::create(chain.getBuilderAt(op), op->getLoc(), operands[0],
                     operands[1]);
}

static Value convertProduct(ChainConverter &chain, Operation *op) {
  if (Value linear = convertLinear(chain, op, readProduct(op)))
    return linear;
  return convertBinary<arith::MulIOp>(chain, op);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// clamp(x, low, high) -> arith.minsi(arith.maxsi(x, low), high), each bound
/// where it is given.
static Value convertClamp(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 2 ||
      op->getOperand(0).getType() != op->getResult(0).getType() ||
      !isIndexArithmetic(op, op->getOperand(0)))
    return {};
  int64_t width = getElementType(op->getResult(0)).getIntOrFloatBitWidth();
  std::optional<int64_t> low, high;
  bool isUpper = getTorchName(op) == "torch.aten.clamp_max";
  for (auto [number, bound] : llvm::enumerate(op->getOperands().drop_front())) {
    if (isNone(bound))
      continue;
    std::optional<int64_t> constant = readScalar(bound);
    if (!constant || !llvm::isIntN(width, *constant))
      return {};
    (number == 1 || isUpper ? high : low) = constant;
  }
  SmallVector<Value> input = convertIndexOperands(chain, op, op->getOperand(0));
  if (input.empty())
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  Value result = input.front();
  if (low)
    result = arith::MaxSIOp::create(builder, loc, result,
                                    splatLike(builder, loc, *low, result));
  if (high)
    result = arith::MinSIOp::create(builder, loc, result,
                                    splatLike(builder, loc, *high, result));
  return result;
}

/// where(c, x, y) -> arith.select c, x, y, each tensor or constant.
static Value convertSelect(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() != 3)
    return {};
  SmallVector<Value> tensors{op->getOperand(0)};
  Type condition = getElementType(op->getOperand(0));
  int64_t width = getElementType(op->getResult(0)).getIntOrFloatBitWidth();
  if (!condition || !condition.isSignlessInteger(1))
    return {};
  for (Value value : op->getOperands().drop_front()) {
    std::optional<int64_t> scalar = readScalar(value);
    if (scalar ? !llvm::isIntN(width, *scalar) : !isIndexArithmetic(op, value))
      return {};
    if (!scalar)
      tensors.push_back(value);
  }
  SmallVector<Value> converted = chain.convertElements(op, tensors);
  if (converted.empty() || tensors.size() == 1)
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  Type element = builder.getIntegerType(width);
  auto getChoice = [&](Value value) -> Value {
    if (std::optional<int64_t> scalar = readScalar(value))
      return splatLike(builder, loc, builder.getIntegerAttr(element, *scalar),
                       converted.front());
    auto *it = llvm::find(llvm::drop_begin(tensors), value);
    Value choice = converted[it - tensors.begin()];
    return width == 64 ? widen(builder, loc, choice)
                       : narrow(builder, loc, choice, element);
  };
  Value ifTrue = getChoice(op->getOperand(1));
  Value ifFalse = getChoice(op->getOperand(2));
  return arith::SelectOp::create(builder, loc, converted.front(), ifTrue,
                                 ifFalse);
}

Conversion torch::getIndexConversion(StringRef name) {
  if (Conversion division = getDivisionConversion(name))
    return division;
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.add.Scalar", "torch.aten.add.Tensor",
              "torch.aten.rsub.Scalar", "torch.aten.rsub.Tensor",
              "torch.aten.sub.Scalar", "torch.aten.sub.Tensor"},
             convertSum)
      .Case("torch.aten.maximum", convertBinary<arith::MaxSIOp>)
      .Case("torch.aten.minimum", convertBinary<arith::MinSIOp>)
      .Cases(
          {"torch.aten.clamp", "torch.aten.clamp_max", "torch.aten.clamp_min"},
          convertClamp)
      .Cases(
          {"torch.aten.mul.Scalar", "torch.aten.mul.Tensor", "torch.aten.neg"},
          convertProduct)
      .Cases({"torch.aten.where.ScalarOther", "torch.aten.where.ScalarSelf",
              "torch.aten.where.self"},
             convertSelect)
      .Default(nullptr);
}
