//===- TorchDims.cpp - Which dimensions hold the same ---------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchDims.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

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

/// Collapses the groups `merging` of dimensions. Of rows, which may have any
/// strides, dimensions of size 1 are left out by a slice, which copies nothing.
static Value merge(OpBuilder &builder, Location loc, Value tensor,
                   RankedTensorType merged,
                   ArrayRef<ReassociationIndices> merging) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto isMerged = [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return type.getDimSize(dim) != 1;
           }) > 1;
  };
  Type element = type.getElementType();
  bool isIndexOrMask =
      element.isInteger(1) || element.isInteger(32) || element.isInteger(64);
  if (isIndexOrMask || llvm::any_of(merging, isMerged))
    return builder.createOrFold<tensor::CollapseShapeOp>(loc, merged, tensor,
                                                         merging);
  return tensor::createCanonicalRankReducingExtractSliceOp(builder, loc, tensor,
                                                           merged);
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
    tensor = merge(builder, loc, tensor, merged, merging);
  RankedTensorType result = type.clone(shape);
  if (merged != result)
    tensor = builder.createOrFold<tensor::ExpandShapeOp>(loc, result, tensor,
                                                         splitting);
  return tensor;
}
