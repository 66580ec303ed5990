//===- ConstantCoordinates.cpp - Coordinates that select a slice ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantCoordinates.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
/// write(%pool), whose map is (t, s, d) -> (1, s, d)
/// -> insert(write(extract(%pool)), %pool), whose map is (t, s, d) -> (s, d).
/// The constant is inside the pool, so there is nothing to test (SX5) or to
/// wrap (SX4) about it.
class ConstantSelector {
public:
  explicit ConstantSelector(DenseMap<Value, Value> first)
      : first(std::move(first)) {}

  void select(WriteOp write, unsigned i);

private:
  Value getFirst(Value version) {
    auto found = first.find(version);
    return found == first.end() ? version : found->second;
  }
  /// Size `dim` of `version`, asked for once.
  OpFoldResult getSize(Value version, unsigned dim);

  /// The value that each version is a version of.
  DenseMap<Value, Value> first;
  DenseMap<std::pair<Value, unsigned>, OpFoldResult> known;
};
} // namespace

OpFoldResult ConstantSelector::getSize(Value version, unsigned dim) {
  Value source = getFirst(version);
  OpFoldResult &size = known[{source, dim}];
  if (!size) {
    OpBuilder builder(source.getContext());
    builder.setInsertionPointAfterValue(source);
    size = tensor::getMixedSize(builder, source.getLoc(), source, dim);
  }
  return size;
}

/// Is coordinate `dim` of destination `i` of `write` one constant inside it?
static bool isSelected(WriteOp write, unsigned i, unsigned dim) {
  auto constant = dyn_cast<AffineConstantExpr>(write.getMap(i).getResult(dim));
  return constant && constant.getValue() >= 0 &&
         constant.getValue() < write.getDestType(i).getDimSize(dim) &&
         // There is nothing to choose from.
         write.getDestType(i).getDimSize(dim) != 1;
}

/// Do some coordinates of destination `i` of `write` select a slice? Not beside
/// another dimension of size 1: buffers do not tell which of them the slice
/// drops.
static bool selectsSlice(WriteOp write, unsigned i) {
  auto dims = llvm::seq<unsigned>(0, write.getMap(i).getNumResults());
  auto isConstant = [&](unsigned dim) { return isSelected(write, i, dim); };
  return llvm::any_of(dims, isConstant) && !llvm::all_of(dims, isConstant) &&
         llvm::all_of(dims, [&](unsigned dim) {
           return isConstant(dim) || write.getDestType(i).getDimSize(dim) != 1;
         });
}

void ConstantSelector::select(WriteOp write, unsigned i) {
  if (!selectsSlice(write, i))
    return;
  AffineMap map = write.getMap(i);
  Value pool = write.getDests()[i];
  auto type = cast<RankedTensorType>(pool.getType());
  OpBuilder builder(write);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<AffineExpr> coordinates;
  SmallVector<int64_t> shape;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    strides.push_back(one);
    if (isSelected(write, i, dim)) {
      int64_t value = cast<AffineConstantExpr>(expr).getValue();
      offsets.push_back(builder.getIndexAttr(value));
      sizes.push_back(one);
    } else {
      offsets.push_back(zero);
      sizes.push_back(getSize(pool, dim));
      coordinates.push_back(expr);
      shape.push_back(type.getDimSize(dim));
    }
  }

  auto sliceType = RankedTensorType::get(shape, type.getElementType());
  write.getDestsMutable()[i].assign(tensor::ExtractSliceOp::create(
      builder, write.getLoc(), sliceType, pool, offsets, sizes, strides));
  SmallVector<Attribute> maps(write.getMaps().getValue());
  maps[i] = AffineMapAttr::get(
      AffineMap::get(map.getNumDims(), 0, coordinates, map.getContext()));
  write.setMapsAttr(builder.getArrayAttr(maps));
  Value result = write.getResults()[i];
  result.setType(sliceType);
  builder.setInsertionPointAfter(write);
  auto insert = tensor::InsertSliceOp::create(builder, write.getLoc(), result,
                                              pool, offsets, sizes, strides);
  result.replaceAllUsesExcept(insert.getResult(), insert);
  first[insert.getResult()] = getFirst(pool);
}

void kvfuse::selectConstants(ArrayRef<WriteOp> writes,
                             DenseMap<Value, Value> first) {
  ConstantSelector selector(std::move(first));
  for (WriteOp write : writes)
    for (unsigned i = 0; write.hasTensorForm() && i < write.getNumDests(); ++i)
      selector.select(write, i);
}
