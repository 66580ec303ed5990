//===- TorchDestinations.cpp - Is what is written a cache? ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchRefusals.h"

#include "TorchTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

static Operation *getDeviceLoop(Operation *op) {
  while ((op = op->getParentOp())) {
    StringRef name = op->getName().getStringRef();
    if (name == "torch.prim.Loop" || name == "scf.while")
      return op;
  }
  return nullptr;
}

/// Does `op` read the rows of `base` that `write` indexes?
static bool readsSameRows(Operation *op, const RowWrite &write, Value base) {
  auto names = {"torch.aten.index.Tensor",
                "torch.aten.index.Tensor_hacked_twin",
                "torch.aten.index_select", "torch.aten.gather"};
  if (!llvm::is_contained(names, getTorchName(op)))
    return false;
  ViewRefusal why;
  FailureOr<CacheView> view = readView(op->getOperand(0), why);
  if (failed(view) || view->base != base)
    return false;
  SmallVector<Value> indices;
  for (Value value : llvm::drop_begin(getFlatOperands(op)))
    if (readTensorType(value.getType()))
      indices.push_back(value);
  return indices == write.indices;
}

/// The read of the rows that `write` writes in the producers of its values.
/// Far from the write it is no part of an update, and the search ends.
static Operation *findReadOfRows(const RowWrite &write, Value base) {
  constexpr unsigned kLimit = 32;
  llvm::SetVector<Operation *> producers;
  if (Operation *op = write.values.getDefiningOp())
    producers.insert(op);
  for (unsigned i = 0; i < producers.size() && i < kLimit; ++i) {
    if (readsSameRows(producers[i], write, base))
      return producers[i];
    for (Value operand : getFlatOperands(producers[i]))
      if (Operation *def = operand.getDefiningOp())
        producers.insert(def);
  }
  return nullptr;
}

/// Does `op` make a tensor like a cache from a cache of the same rank?
static bool takesCache(Operation *op) {
  RankedTensorType result = readTensorType(op->getResult(0).getType());
  return result && llvm::any_of(getFlatOperands(op), [&](Value operand) {
           RankedTensorType type = readTensorType(operand.getType());
           return type && type.getRank() == result.getRank() &&
                  type.getElementType() == result.getElementType() &&
                  isFunctionArgument(getViewBase(operand));
         });
}

/// Does a scatter take `written`, a slice of a cache, or what is written to it
/// after that, back into a cache?
static bool isPutBack(Value written) {
  llvm::SetVector<Value> versions;
  versions.insert(written);
  for (unsigned i = 0; i < versions.size(); ++i)
    for (OpOperand &use : versions[i].getUses()) {
      Operation *user = use.getOwner();
      // The second operand of each of them is the source.
      if (readSliceScatter(user) && use.getOperandNumber() == 1)
        return true;
      if ((isViewOp(user) && getViewSource(user) == use.get()) ||
          (isRowWrite(user) && use.getOperandNumber() == 0))
        versions.insert(user->getResult(0));
    }
  return false;
}

LogicalResult torch::checkDestination(Operation *op, const RowWrite &write,
                                      const CacheView &view, ViewRefusal &why) {
  if (Operation *loop = getDeviceLoop(op)) {
    why = {Refusal::DeviceLoop, "writes in a loop of the program",
           "write the rows of all tokens at once", loop->getLoc()};
    return failure();
  }
  Operation *maker = view.base.getDefiningOp();
  if (maker && isTorchOp(maker)) {
    bool isUpdate = isAtenOp(maker) && takesCache(maker);
    why = {isUpdate ? Refusal::NotAScatter : Refusal::CacheCopied,
           "writes a tensor that " + getTorchName(maker).str() + " has made",
           "write the cache itself", maker->getLoc()};
    return failure();
  }
  if (view.layout.isSliced() && !isPutBack(op->getResult(0))) {
    why = {Refusal::CacheCopied,
           "writes a copy of a slice: nothing puts it back into the cache",
           "put the slice back, or write the cache itself", std::nullopt};
    return failure();
  }
  if (Operation *read = findReadOfRows(write, view.base)) {
    why = {Refusal::WindowRMW,
           "the rows are computed from the rows that they replace",
           "write new rows only", read->getLoc()};
    return failure();
  }
  return success();
}
