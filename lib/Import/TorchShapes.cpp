//===- TorchShapes.cpp - Shapes of tensors, as torch has them -------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchShapes.h"

#include "TorchTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

std::optional<SmallVector<int64_t>>
torch::getCommonShape(ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> common;
  for (ArrayRef<int64_t> shape : shapes) {
    SmallVector<int64_t> next;
    if (!OpTrait::util::getBroadcastedShape(common, shape, next))
      return std::nullopt;
    common = std::move(next);
  }
  return common;
}

std::optional<SmallVector<int64_t>>
torch::getCommonShape(ValueRange torchTensors) {
  SmallVector<RankedTensorType> types;
  for (Value tensor : torchTensors) {
    types.push_back(readTensorType(tensor.getType()));
    if (!types.back())
      return std::nullopt;
  }
  return getCommonShape(
      llvm::map_to_vector(types, [](auto type) { return type.getShape(); }));
}

//===----------------------------------------------------------------------===//
// Repetitions
//===----------------------------------------------------------------------===//

namespace {
/// Repeats a tensor to the shape `shape`, whose dynamic sizes are asked for.
class Broadcaster {
public:
  using SizeFn = llvm::function_ref<OpFoldResult(unsigned)>;

  Broadcaster(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
              SizeFn getDynamicSize)
      : builder(builder), loc(loc), shape(shape),
        getDynamicSize(getDynamicSize) {}

  Value broadcast(Value tensor);

private:
  OpFoldResult getSize(unsigned dim) {
    return ShapedType::isDynamic(shape[dim])
               ? getDynamicSize(dim)
               : OpFoldResult(builder.getIndexAttr(shape[dim]));
  }
  Value broadcastSplat(Value tensor);
  Value dropDims(Value tensor, const llvm::SmallBitVector &dims);

  OpBuilder &builder;
  Location loc;
  ArrayRef<int64_t> shape;
  SizeFn getDynamicSize;
};
} // namespace

/// The constant splat `tensor` in the common shape, if it is one.
Value Broadcaster::broadcastSplat(Value tensor) {
  SplatElementsAttr splat;
  if (!matchPattern(tensor, m_Constant(&splat)))
    return {};
  auto type = RankedTensorType::get(shape, splat.getElementType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc,
                                     splat.resizeSplat(cast<ShapedType>(type)));
  Value element =
      arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>());
  SmallVector<Value> dynamicSizes;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (type.isDynamicDim(dim))
      dynamicSizes.push_back(cast<Value>(getSize(dim)));
  return tensor::SplatOp::create(builder, loc, type, element, dynamicSizes);
}

/// Leaves out dimensions of size 1.
Value Broadcaster::dropDims(Value tensor, const llvm::SmallBitVector &dims) {
  if (dims.none())
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!dims[dim])
      shape.push_back(size);
  return reshape(builder, loc, tensor, shape, /*keepsSizes=*/true);
}

Value Broadcaster::broadcast(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned absent = shape.size() - type.getRank();
  SmallVector<int64_t> repeated =
      llvm::to_vector(llvm::seq<int64_t>(0, absent));
  llvm::SmallBitVector unitDims(type.getRank());
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    if (type.getDimSize(dim) != 1 || shape[absent + dim] == 1)
      continue;
    unitDims.set(dim);
    repeated.push_back(absent + dim);
  }
  if (repeated.empty())
    return tensor;
  if (Value splat = broadcastSplat(tensor))
    return splat;

  // A size of the tensor itself stays as its type has it.
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    sizes.push_back(
        llvm::is_contained(repeated, dim)
            ? getSize(dim)
            : tensor::getMixedSize(builder, loc, tensor, dim - absent));
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::BroadcastOp::create(builder, loc, dropDims(tensor, unitDims),
                                     init, repeated)
      .getResult()[0];
}

SmallVector<Value> torch::broadcastTogether(OpBuilder &builder, Location loc,
                                            ValueRange tensors) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value tensor : tensors)
    shapes.push_back(cast<RankedTensorType>(tensor.getType()).getShape());
  std::optional<SmallVector<int64_t>> common = getCommonShape(shapes);
  assert(common && "tensors that do not fit together");
  // A dynamic size comes from one of the tensors.
  auto getSize = [&](unsigned dim) {
    for (Value tensor : tensors) {
      auto type = cast<RankedTensorType>(tensor.getType());
      int64_t own = type.getRank() + dim - static_cast<int64_t>(common->size());
      if (own >= 0 && type.isDynamicDim(own))
        return tensor::getMixedSize(builder, loc, tensor, own);
    }
    llvm_unreachable("no tensor has this size");
  };
  Broadcaster broadcaster(builder, loc, *common, getSize);
  return llvm::map_to_vector(
      tensors, [&](Value tensor) { return broadcaster.broadcast(tensor); });
}

Value torch::broadcastTo(OpBuilder &builder, Location loc, Value tensor,
                         ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  size_t absent = sizes.size() - type.getRank();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    shape.push_back(
        !size ? type.getDimSize(dim - absent)
              : getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return Broadcaster(builder, loc, shape,
                     [&](unsigned dim) { return sizes[dim]; })
      .broadcast(tensor);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Puts what is left over at the end, dimensions of size 1, to the last group.
static std::optional<SmallVector<DimGroup>>
addUnitDims(SmallVector<DimGroup> groups, ArrayRef<int64_t> from,
            ArrayRef<int64_t> to, size_t numFrom, size_t numTo) {
  auto isUnit = [](int64_t size) { return size == 1; };
  if (!llvm::all_of(from.drop_front(numFrom), isUnit) ||
      !llvm::all_of(to.drop_front(numTo), isUnit))
    return std::nullopt;
  if (groups.empty())
    return groups;
  llvm::append_range(groups.back().from, llvm::seq(numFrom, from.size()));
  llvm::append_range(groups.back().to, llvm::seq(numTo, to.size()));
  return groups;
}

/// Groups of shapes that differ in dimensions of size 1 alone.
static std::optional<SmallVector<DimGroup>> matchSizes(ArrayRef<int64_t> from,
                                                       ArrayRef<int64_t> to) {
  auto isUnit = [](ArrayRef<int64_t> shape, size_t dim) {
    return dim < shape.size() && shape[dim] == 1;
  };
  SmallVector<DimGroup> groups;
  size_t f = 0, t = 0;
  while (true) {
    DimGroup group;
    while (isUnit(from, f + group.from.size()) && !isUnit(to, t))
      group.from.push_back(f + group.from.size());
    while (isUnit(to, t + group.to.size()) && !isUnit(from, f))
      group.to.push_back(t + group.to.size());
    size_t nextFrom = f + group.from.size(), nextTo = t + group.to.size();
    if (nextFrom == from.size() || nextTo == to.size())
      break;
    if (from[nextFrom] != to[nextTo])
      return std::nullopt;
    group.from.push_back(nextFrom);
    group.to.push_back(nextTo);
    groups.push_back(group);
    f = nextFrom + 1;
    t = nextTo + 1;
  }
  return addUnitDims(std::move(groups), from, to, f, t);
}

/// Groups of equal products from the first dimensions on, as far as there are
/// such. All sizes are static.
static SmallVector<DimGroup> matchProducts(ArrayRef<int64_t> from,
                                           ArrayRef<int64_t> to) {
  SmallVector<DimGroup> groups;
  size_t f = 0, t = 0;
  while (f < from.size() && t < to.size()) {
    DimGroup group;
    int64_t left = from[f], right = to[t];
    group.from.push_back(f++);
    group.to.push_back(t++);
    while (left != right && (left < right ? f < from.size() : t < to.size())) {
      if (left < right) {
        left *= from[f];
        group.from.push_back(f++);
      } else {
        right *= to[t];
        group.to.push_back(t++);
      }
    }
    if (left != right)
      break;
    groups.push_back(group);
  }
  return groups;
}

/// The number of dimensions of one side that `groups` take.
static size_t countDims(ArrayRef<DimGroup> groups,
                        SmallVector<int64_t> DimGroup::*side) {
  size_t count = 0;
  for (const DimGroup &group : groups)
    count += (group.*side).size();
  return count;
}

/// Groups around the only dynamic size of each shape: equal products before and
/// behind it, and what is left.
static SmallVector<DimGroup> matchAroundDynamic(ArrayRef<int64_t> from,
                                                ArrayRef<int64_t> to) {
  auto isDynamic = [](int64_t size) { return ShapedType::isDynamic(size); };
  SmallVector<DimGroup> groups =
      matchProducts(from.take_until(isDynamic), to.take_until(isDynamic));
  auto getReversedEnd = [&](ArrayRef<int64_t> shape) {
    return llvm::to_vector(
        llvm::reverse(shape.drop_until(isDynamic).drop_front()));
  };
  SmallVector<DimGroup> ends =
      matchProducts(getReversedEnd(from), getReversedEnd(to));
  int64_t endFrom = from.size() - countDims(ends, &DimGroup::from);
  int64_t endTo = to.size() - countDims(ends, &DimGroup::to);
  DimGroup middle;
  llvm::append_range(
      middle.from,
      llvm::seq<int64_t>(countDims(groups, &DimGroup::from), endFrom));
  llvm::append_range(
      middle.to, llvm::seq<int64_t>(countDims(groups, &DimGroup::to), endTo));
  groups.push_back(middle);
  for (const DimGroup &end : llvm::reverse(ends)) {
    DimGroup group;
    for (int64_t dim : llvm::reverse(end.from))
      group.from.push_back(from.size() - 1 - dim);
    for (int64_t dim : llvm::reverse(end.to))
      group.to.push_back(to.size() - 1 - dim);
    groups.push_back(group);
  }
  return groups;
}

std::optional<SmallVector<DimGroup>> torch::matchDims(ArrayRef<int64_t> from,
                                                      ArrayRef<int64_t> to,
                                                      bool keepsSizes) {
  auto isDynamic = [](int64_t size) { return ShapedType::isDynamic(size); };
  int64_t numDynamic = llvm::count_if(from, isDynamic);
  if (numDynamic != llvm::count_if(to, isDynamic) ||
      (numDynamic > 1 && !keepsSizes))
    return std::nullopt;
  if (auto groups = matchSizes(from, to))
    return groups;
  if (numDynamic == 1)
    return matchAroundDynamic(from, to);
  if (numDynamic > 1)
    return std::nullopt;
  SmallVector<DimGroup> groups = matchProducts(from, to);
  size_t numFrom = countDims(groups, &DimGroup::from);
  size_t numTo = countDims(groups, &DimGroup::to);
  return addUnitDims(std::move(groups), from, to, numFrom, numTo);
}

/// One dimension for each group.
static SmallVector<int64_t> getMergedShape(ArrayRef<DimGroup> groups,
                                           ArrayRef<int64_t> from) {
  return llvm::map_to_vector(groups, [&](const DimGroup &group) {
    int64_t product = 1;
    for (int64_t dim : group.from) {
      if (ShapedType::isDynamic(from[dim]))
        return ShapedType::kDynamic;
      product *= from[dim];
    }
    return product;
  });
}

Value torch::reshape(OpBuilder &builder, Location loc, Value tensor,
                     ArrayRef<int64_t> shape, bool keepsSizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  auto groups = matchDims(type.getShape(), shape, keepsSizes);
  if (!groups)
    return {};
  SmallVector<ReassociationIndices> merging, splitting;
  for (const DimGroup &group : *groups) {
    merging.emplace_back(group.from.begin(), group.from.end());
    splitting.emplace_back(group.to.begin(), group.to.end());
  }
  RankedTensorType merged = RankedTensorType::get(
      getMergedShape(*groups, type.getShape()), type.getElementType());
  if (merged != type)
    tensor = builder.createOrFold<tensor::CollapseShapeOp>(loc, merged, tensor,
                                                           merging);
  RankedTensorType result = type.clone(shape);
  if (merged != result)
    tensor = builder.createOrFold<tensor::ExpandShapeOp>(loc, result, tensor,
                                                         splitting);
  return tensor;
}
