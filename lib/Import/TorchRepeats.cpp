//===- TorchRepeats.cpp - Repetitions in the chain ------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchDims.h"
#include "TorchShapes.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

/// The sizes of the result of `op`, from its type and from the list of integers
/// `list`, aligned at the right; -1 stands for the size that is there.
static FailureOr<SmallVector<OpFoldResult>>
convertSizes(ChainConverter &chain, Operation *op, Value list) {
  RankedTensorType type = readTensorType(op->getResult(0).getType());
  std::optional<OperandRange> elements = readList(list);
  if (!elements || static_cast<int64_t>(elements->size()) != type.getRank())
    return failure();
  SmallVector<OpFoldResult> sizes;
  OpBuilder builder(op->getContext());
  for (auto [dim, element] : llvm::enumerate(*elements)) {
    if (!type.isDynamicDim(dim)) {
      sizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
      continue;
    }
    // What stays as it is needs no size.
    FailureOr<OpFoldResult> size = chain.convertSize(element, op);
    sizes.push_back(succeeded(size) ? *size : OpFoldResult());
  }
  return sizes;
}

/// expand(x, sizes) -> linalg.broadcast
static Value convertExpand(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 2)
    return {};
  Value input = op->getOperand(0);
  RankedTensorType from = readTensorType(input.getType());
  RankedTensorType to = readTensorType(op->getResult(0).getType());
  if (!from || !to || from.getElementType() != to.getElementType())
    return {};
  FailureOr<SmallVector<OpFoldResult>> sizes =
      convertSizes(chain, op, op->getOperand(1));
  if (failed(sizes))
    return {};
  int64_t absent = to.getRank() - from.getRank();
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    bool isRepeated = dim < absent || from.getDimSize(dim - absent) == 1;
    if (isRepeated && !(*sizes)[dim])
      return {};
  }
  Value whole = chain.convertWhole(input);
  if (const Compression *compression = chain.getCompression(input))
    chain.setCompression(
        op->getResult(0),
        {compression->mask, compression->dim + absent, compression->cause});
  return broadcastTo(chain.getBuilderAt(op), op->getLoc(), whole, *sizes);
}

/// x, whose dimensions of sizes d0, d1, ... are repeated r0, r1, ... times: a
/// broadcast to [r0, d0, r1, d1, ...] (`inner`: [d0, r0, d1, r1, ...]) and a
/// collapse of the pairs.
static Value repeat(ChainConverter &chain, Operation *op, bool inner,
                    ArrayRef<int64_t> counts) {
  Value input = op->getOperand(0);
  RankedTensorType from = readTensorType(input.getType());
  RankedTensorType to = readTensorType(op->getResult(0).getType());
  Value whole = chain.convertWhole(input);
  if (chain.getCompression(input))
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  int64_t absent = counts.size() - from.getRank();
  SmallVector<int64_t> unitShape;
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, count] : llvm::enumerate(counts)) {
    int64_t own = static_cast<int64_t>(dim) - absent;
    int64_t size = own < 0 ? 1 : from.getDimSize(own);
    OpFoldResult mixed = own < 0
                             ? builder.getIndexAttr(1)
                             : tensor::getMixedSize(builder, loc, whole, own);
    unitShape.append({inner ? size : 1, inner ? 1 : size});
    OpFoldResult repeated = builder.getIndexAttr(count);
    sizes.append({inner ? mixed : repeated, inner ? repeated : mixed});
  }
  Value units = reshape(builder, loc, whole, unitShape);
  if (!units)
    return {};
  return reshape(builder, loc, broadcastTo(builder, loc, units, sizes),
                 to.getShape());
}

/// repeat(x, counts)
static Value convertRepeat(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 2 || !getElementType(op->getOperand(0)))
    return {};
  RankedTensorType from = readTensorType(op->getOperand(0).getType());
  std::optional<OperandRange> list = readList(op->getOperand(1));
  if (!list || static_cast<int64_t>(list->size()) < from.getRank())
    return {};
  SmallVector<int64_t> counts;
  for (Value element : *list) {
    counts.push_back(readInt(element).value_or(0));
    if (counts.back() < 1)
      return {};
  }
  return repeat(chain, op, /*inner=*/false, counts);
}

/// repeat_interleave(x, count, dim)
static Value convertRepeatInterleave(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 3 || !getElementType(op->getOperand(0)))
    return {};
  RankedTensorType from = readTensorType(op->getOperand(0).getType());
  std::optional<int64_t> count = readInt(op->getOperand(1));
  // Without a dimension the tensor is flattened first.
  std::optional<int64_t> dim = readDim(op->getOperand(2), from.getRank());
  if (isNone(op->getOperand(2)) && from.getRank() == 1)
    dim = 0;
  if (!count || *count < 1 || !dim)
    return {};
  SmallVector<int64_t> counts(from.getRank(), 1);
  counts[*dim] = *count;
  return repeat(chain, op, /*inner=*/true, counts);
}

Conversion torch::getRepetitionConversion(StringRef name) {
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.broadcast_to", "torch.aten.expand"}, convertExpand)
      .Cases({"torch.aten.repeat", "torch.aten.tile"}, convertRepeat)
      .Case("torch.aten.repeat_interleave.self_int", convertRepeatInterleave)
      .Default(nullptr);
}
