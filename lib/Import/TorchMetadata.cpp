//===- TorchMetadata.cpp - Assertions on tensors, checked statically ------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchFunction.h"
#include "TorchTypes.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

namespace {
enum class Outcome { Holds, Unknown, Fails };

/// `_assert_tensor_metadata(tensor, size, stride, dtype, device, layout)`
/// against the type of the tensor. The device is where a program was exported,
/// not where it will run, and is not compared.
class MetadataCheck {
public:
  MetadataCheck(Operation *op)
      : op(op), type(readTensorType(op->getOperand(0).getType())) {}

  Outcome run() {
    Outcome outcome = Outcome::Holds;
    for (Outcome part :
         {checkSize(op->getOperand(1)), checkStride(op->getOperand(2)),
          checkType(op->getOperand(3)), checkLayout(op->getOperand(5))})
      outcome = std::max(outcome, part);
    return outcome;
  }

private:
  InFlightDiagnostic fail() {
    return emitError(op->getLoc(), "tensor metadata assertion does not hold: ");
  }

  Outcome checkSize(Value size) {
    if (isNone(size))
      return Outcome::Holds;
    std::optional<OperandRange> sizes = readList(size);
    if (!sizes)
      return Outcome::Unknown;
    if (static_cast<int64_t>(sizes->size()) != type.getRank()) {
      fail() << "rank " << sizes->size() << ", but the tensor has rank "
             << type.getRank();
      return Outcome::Fails;
    }
    Outcome outcome = Outcome::Holds;
    for (auto [dim, expected] : llvm::enumerate(*sizes)) {
      std::optional<int64_t> constant = readInt(expected);
      if (!constant || type.isDynamicDim(dim)) {
        outcome = Outcome::Unknown;
      } else if (*constant != type.getDimSize(dim)) {
        fail() << "size " << *constant << " of dimension " << dim
               << ", but the tensor has size " << type.getDimSize(dim);
        return Outcome::Fails;
      }
    }
    return outcome;
  }

  /// Types know no strides.
  Outcome checkStride(Value stride) {
    return isNone(stride) ? Outcome::Holds : Outcome::Unknown;
  }

  Outcome checkType(Value dtype) {
    if (isNone(dtype))
      return Outcome::Holds;
    std::optional<int64_t> code = readInt(dtype);
    if (!code)
      return Outcome::Unknown;
    Type expected = getElementTypeOfCode(op->getContext(), *code);
    if (expected == type.getElementType())
      return Outcome::Holds;
    InFlightDiagnostic diag = fail();
    diag << "dtype " << *code;
    if (expected)
      diag << " (" << expected << ")";
    diag << ", but the tensor is of " << type.getElementType();
    return Outcome::Fails;
  }

  /// Torch value tensors are strided, which is layout 0.
  Outcome checkLayout(Value layout) {
    if (isNone(layout))
      return Outcome::Holds;
    std::optional<int64_t> code = readInt(layout);
    if (!code)
      return Outcome::Unknown;
    if (*code == 0)
      return Outcome::Holds;
    fail() << "layout " << *code << ", but the tensor is strided (0)";
    return Outcome::Fails;
  }

  Operation *op;
  RankedTensorType type;
};
} // namespace

LogicalResult torch::checkMetadata(func::FuncOp func,
                                   const ChainConverter &chain,
                                   SmallVectorImpl<Operation *> &holding) {
  LogicalResult result = success();
  func.walk([&](Operation *op) {
    if (getTorchName(op) != "torch.aten._assert_tensor_metadata" ||
        op->getNumOperands() != 6 || !chain.isConverted(op->getOperand(0)))
      return;
    Outcome outcome = MetadataCheck(op).run();
    if (outcome == Outcome::Holds)
      holding.push_back(op);
    if (outcome == Outcome::Fails)
      result = failure();
  });
  return result;
}
