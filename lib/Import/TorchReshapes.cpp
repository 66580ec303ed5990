//===- TorchReshapes.cpp - Views and slices in the chain ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchDims.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The dimension of `to` that is dimension `dim` of `from`, in a view of one as
/// the other.
static std::optional<int64_t> followDim(ArrayRef<DimGroup> groups,
                                        ArrayRef<int64_t> from,
                                        ArrayRef<int64_t> to, int64_t dim) {
  for (const DimGroup &group : groups) {
    if (!llvm::is_contained(group.from, dim))
      continue;
    // It must stand alone, but for dimensions of size 1.
    auto isOther = [](ArrayRef<int64_t> shape) {
      return [shape](int64_t d) { return shape[d] != 1; };
    };
    if (llvm::count_if(group.from, isOther(from)) != 1 ||
        llvm::count_if(group.to, isOther(to)) != 1)
      return std::nullopt;
    return *llvm::find_if(group.to, isOther(to));
  }
  return std::nullopt;
}

/// Does `op` only add or leave out dimensions of size 1?
static bool isUnitView(Operation *op) {
  StringRef name = getTorchName(op);
  return name.contains("squeeze");
}

/// view(x) -> tensor.collapse_shape, tensor.expand_shape, or both.
static Value convertView(ChainConverter &chain, Operation *op) {
  if (op->getNumOperands() < 1)
    return {};
  Value input = op->getOperand(0), result = op->getResult(0);
  RankedTensorType from = readTensorType(input.getType());
  RankedTensorType to = readTensorType(result.getType());
  // A view of other elements is no reshape.
  if (!from || !to || from.getElementType() != to.getElementType())
    return {};
  auto groups = matchDims(from.getShape(), to.getShape(), isUnitView(op));
  if (!groups)
    return {};
  Value whole = chain.convertWhole(input);
  SmallVector<int64_t> shape(to.getShape());
  if (const Compression *compression = chain.getCompression(input)) {
    std::optional<int64_t> dim =
        followDim(*groups, from.getShape(), to.getShape(), compression->dim);
    if (!dim)
      return {};
    shape[*dim] =
        cast<RankedTensorType>(whole.getType()).getDimSize(compression->dim);
    chain.setCompression(result, {compression->mask, *dim, compression->cause});
  }
  return reshape(chain.getBuilderAt(op), op->getLoc(), whole, shape,
                 isUnitView(op));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// A part of a tensor along one dimension, of static size.
struct Slice {
  int64_t dim;
  int64_t start;
  int64_t step;
  int64_t size;
  /// Is the dimension left out of the result?
  bool drops;

  bool isWhole(RankedTensorType type) const {
    return !drops && start == 0 && step == 1 && size == type.getDimSize(dim);
  }
};
} // namespace

/// select(x, dim, index)
static std::optional<Slice> readSelect(Operation *op, RankedTensorType from) {
  std::optional<int64_t> dim = readDim(op->getOperand(1), from.getRank());
  if (!dim || from.isDynamicDim(*dim))
    return std::nullopt;
  std::optional<int64_t> index =
      readDim(op->getOperand(2), from.getDimSize(*dim));
  if (!index)
    return std::nullopt;
  return Slice{*dim, *index, 1, 1, /*drops=*/true};
}

/// slice(x, dim, start, end, step): torch moves the ends into the tensor.
static std::optional<Slice> readSlice(Operation *op, RankedTensorType from) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> dim = readDim(op->getOperand(1), from.getRank());
  if (!dim)
    return std::nullopt;
  int64_t size = from.getDimSize(*dim);
  auto readEnd = [&](Value value, int64_t absent) -> std::optional<int64_t> {
    std::optional<int64_t> end = isNone(value) ? absent : readInt(value);
    if (!end || ShapedType::isDynamic(size))
      return end;
    return std::clamp<int64_t>(*end < 0 ? *end + size : *end, 0, size);
  };
  std::optional<int64_t> start = readEnd(op->getOperand(2), 0);
  std::optional<int64_t> end = readEnd(op->getOperand(3), kMax);
  std::optional<int64_t> step = readInt(op->getOperand(4));
  if (!start || !end || !step || *step < 1)
    return std::nullopt;
  if (ShapedType::isDynamic(size)) {
    if (*start != 0 || *end != kMax || *step != 1)
      return std::nullopt;
    return Slice{*dim, 0, 1, size, /*drops=*/false};
  }
  int64_t count = llvm::divideCeil(std::max<int64_t>(*end - *start, 0), *step);
  return Slice{*dim, *start, *step, count, /*drops=*/false};
}

/// Of two names for one part of a tensor the first one: they must not look like
/// two index tensors.
static Value findSame(ChainConverter &chain, tensor::ExtractSliceOp slice) {
  for (Operation *user : slice.getSource().getUsers())
    if (user != slice && isa<tensor::ExtractSliceOp>(user) &&
        chain.dominates(user->getResult(0), slice) &&
        isEquivalent(user->getResult(0), slice))
      return user->getResult(0);
  return slice;
}

/// slice(x), select(x) -> tensor.extract_slice
static Value convertSlice(ChainConverter &chain, Operation *op) {
  bool isSelect = op->getNumOperands() == 3;
  if (!isSelect && op->getNumOperands() != 5)
    return {};
  Value input = op->getOperand(0), result = op->getResult(0);
  RankedTensorType from = readTensorType(input.getType());
  RankedTensorType to = readTensorType(result.getType());
  if (!from || !to)
    return {};
  std::optional<Slice> slice =
      isSelect ? readSelect(op, from) : readSlice(op, from);
  if (!slice)
    return {};
  Value whole = chain.convertWhole(input);
  if (const Compression *compression = chain.getCompression(input)) {
    // A part of what is picked is not known.
    if (compression->dim == slice->dim && !slice->isWhole(from))
      return {};
    bool shifts = slice->drops && compression->dim > slice->dim;
    chain.setCompression(result, {compression->mask, compression->dim - shifts,
                                  compression->cause});
  }
  if (slice->isWhole(from))
    return whole;
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  SmallVector<OpFoldResult> offsets(from.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(from.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, whole);
  offsets[slice->dim] = builder.getIndexAttr(slice->start);
  strides[slice->dim] = builder.getIndexAttr(slice->step);
  sizes[slice->dim] = builder.getIndexAttr(slice->size);
  SmallVector<int64_t> shape = llvm::to_vector(
      llvm::map_range(llvm::seq<int64_t>(0, from.getRank()), [&](int64_t dim) {
        return dim == slice->dim
                   ? slice->size
                   : cast<RankedTensorType>(whole.getType()).getDimSize(dim);
      }));
  if (slice->drops)
    shape.erase(shape.begin() + slice->dim);
  auto built = tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, dropSign(to).getElementType()),
      whole, offsets, sizes, strides);
  return findSame(chain, built);
}

Conversion torch::getShapeConversion(StringRef name) {
  if (Conversion repetition = getRepetitionConversion(name))
    return repetition;
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten._reshape_alias", "torch.aten._unsafe_view",
              "torch.aten.flatten.using_ints", "torch.aten.reshape",
              "torch.aten.squeeze", "torch.aten.squeeze.dim",
              "torch.prims.squeeze", "torch.aten.unflatten.int",
              "torch.aten.unsqueeze", "torch.aten.view"},
             convertView)
      .Cases({"torch.aten.select.int", "torch.aten.slice.Tensor"}, convertSlice)
      .Default(nullptr);
}
