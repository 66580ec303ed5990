//===- TensorSize.cpp - Where sizes of tensors come from ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorSize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace kvfuse;

namespace {
/// `factor` times: nothing, the index `source`, or the size of dimension `dim`
/// of the tensor `source`.
struct TensorSize {
  int64_t factor = 1;
  Value source;
  int64_t dim = 0;

  bool operator==(const TensorSize &other) const {
    return factor == other.factor && source == other.source && dim == other.dim;
  }
};
} // namespace

/// Moves `size` to the operand of `op`, a reshape, that it is computed from,
/// where `dims` of shape `shape` are the dimensions in question. All of them
/// but one are static.
static bool moveThroughReshape(TensorSize &size, Value source,
                               ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> dims) {
  int64_t dynamic = -1;
  for (int64_t dim : dims) {
    if (!ShapedType::isDynamic(shape[dim]))
      size.factor *= shape[dim];
    else if (dynamic >= 0)
      return false;
    else
      dynamic = dim;
  }
  size.source = dynamic >= 0 ? source : Value();
  size.dim = std::max<int64_t>(dynamic, 0);
  return true;
}

/// Moves the dynamic `size` to an operand of the operation that makes it.
static bool moveToOperand(TensorSize &size) {
  Operation *def = size.source.getDefiningOp();
  auto type = cast<RankedTensorType>(size.source.getType());
  auto moveToIndex = [&](ValueRange dynamicSizes) {
    size.source = dynamicSizes[type.getDynamicDimIndex(size.dim)];
    size.dim = 0;
    return true;
  };
  if (!def)
    return false;
  if (auto op = dyn_cast<tensor::EmptyOp>(def))
    return moveToIndex(op.getDynamicSizes());
  if (auto op = dyn_cast<tensor::SplatOp>(def))
    return moveToIndex(op.getDynamicSizes());
  if (auto op = dyn_cast<tensor::GenerateOp>(def))
    return moveToIndex(op.getDynamicExtents());
  if (auto op = dyn_cast<tensor::CollapseShapeOp>(def))
    return moveThroughReshape(size, op.getSrc(), op.getSrcType().getShape(),
                              op.getReassociationIndices()[size.dim]);
  if (auto op = dyn_cast<tensor::ExpandShapeOp>(def)) {
    for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
      int64_t rest = 1;
      for (int64_t other : group)
        rest *= other == size.dim ? 1 : type.getDimSize(other);
      if (!llvm::is_contained(group, size.dim) || rest != 1)
        continue;
      size.source = op.getSrc();
      size.dim = dim;
      return true;
    }
    return false;
  }
  if (auto op = dyn_cast<DestinationStyleOpInterface>(def)) {
    size.source = op.getTiedOpOperand(cast<OpResult>(size.source))->get();
    return true;
  }
  if (isa<tensor::CastOp>(def) || OpTrait::hasElementwiseMappableTraits(def))
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType())) {
        size.source = operand;
        return true;
      }
  return false;
}

static TensorSize getSize(Value tensor, int64_t dim) {
  TensorSize size{1, tensor, dim};
  while (size.source) {
    auto type = dyn_cast<RankedTensorType>(size.source.getType());
    if (!type) {
      // An index, perhaps the size of another tensor.
      auto of = size.source.getDefiningOp<tensor::DimOp>();
      if (!of || !of.getConstantIndex() ||
          !isa<RankedTensorType>(of.getSource().getType()))
        return size;
      size.source = of.getSource();
      size.dim = *of.getConstantIndex();
      continue;
    }
    if (!type.isDynamicDim(size.dim)) {
      size.factor *= type.getDimSize(size.dim);
      size.source = {};
      size.dim = 0;
    } else if (!moveToOperand(size)) {
      return size;
    }
  }
  return size;
}

bool kvfuse::haveSameSize(Value a, int64_t dimOfA, Value b, int64_t dimOfB) {
  return getSize(a, dimOfA) == getSize(b, dimOfB);
}
