//===- TorchShapes.cpp - Tensors repeated as torch does it -------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchShapes.h"

#include "TorchDims.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Traits.h"
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
