//===- TorchPickedSizes.cpp - Assertions on what masks pick ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchChain.h"
#include "TorchTypes.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

/// Is `value` the size of a dimension along which a mask picks?
static bool isPickedSize(const ChainConverter &chain, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || getTorchName(op) != "torch.aten.size.int" ||
      op->getNumOperands() != 2)
    return false;
  const Compression *compression = chain.getCompression(op->getOperand(0));
  return compression && readInt(op->getOperand(1)) == compression->dim;
}

/// The number of elements that the mask of the size `value` picks from, if it
/// is static.
static int64_t getWholeSize(const ChainConverter &chain, Value value) {
  Value tensor = value.getDefiningOp()->getOperand(0);
  auto mask =
      cast<RankedTensorType>(chain.getCompression(tensor)->mask.getType());
  return mask.getDimSize(0);
}

/// 0 <= size, and size <= the size that is picked from.
static bool alwaysHolds(const ChainConverter &chain, Operation *comparison) {
  StringRef name = getTorchName(comparison);
  if (comparison->getNumOperands() != 2 ||
      !isPickedSize(chain, comparison->getOperand(0)))
    return false;
  std::optional<int64_t> bound = readInt(comparison->getOperand(1));
  if (name == "torch.aten.ge.int")
    return bound && *bound <= 0;
  int64_t whole = getWholeSize(chain, comparison->getOperand(0));
  return name == "torch.aten.le.int" && bound &&
         !ShapedType::isDynamic(whole) && *bound >= whole;
}

/// The comparison that the assertion `op` asserts, with in `ops` it and the
/// changes of its type.
static Operation *getAssertedComparison(Operation *op,
                                        SmallVectorImpl<Operation *> &ops) {
  StringRef name = getTorchName(op);
  if (name != "torch.aten._assert_scalar" && name != "torch.runtime.assert")
    return nullptr;
  do {
    ops.push_back(op);
    op = op->getNumOperands() > 0 ? op->getOperand(0).getDefiningOp() : nullptr;
    name = op ? getTorchName(op) : "";
  } while (name == "torch.aten.Int.bool" || name == "torch.aten.Bool.int");
  return op;
}

void torch::checkPickedSizes(Operation *func, const ChainConverter &chain,
                             SmallVectorImpl<Operation *> &holding) {
  func->walk([&](Operation *op) {
    SmallVector<Operation *> ops;
    Operation *comparison = getAssertedComparison(op, ops);
    if (!comparison || !alwaysHolds(chain, comparison))
      return;
    llvm::append_range(holding, ops);
    holding.append({comparison, comparison->getOperand(0).getDefiningOp()});
  });
}
