//===- TorchCaches.cpp - Versions of caches -------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchCaches.h"

#include "TorchTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// Operands of the slice operations for a part of a base.
struct SliceParameters {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

static SliceParameters getParameters(OpBuilder &builder, Location loc,
                                     const Part &part, Value base) {
  SliceParameters parameters;
  for (auto [dim, size] : llvm::enumerate(part.sizes)) {
    parameters.offsets.push_back(builder.getIndexAttr(part.offsets[dim]));
    parameters.sizes.push_back(
        ShapedType::isDynamic(size)
            ? tensor::getMixedSize(builder, loc, base, dim)
            : builder.getIndexAttr(size));
    parameters.strides.push_back(builder.getIndexAttr(1));
  }
  return parameters;
}

/// The part of `base` in which the view lies.
Value CacheVersions::extract(const CacheView &view, Value base, Location loc) {
  if (!view.layout.isSliced())
    return base;
  const Part &part = view.layout.getPart();
  SmallVector<int64_t> shape;
  for (auto [size, dropped] :
       llvm::zip_equal(part.sizes, view.layout.getDroppedDims()))
    if (!dropped)
      shape.push_back(size);
  auto type = cast<RankedTensorType>(base.getType()).clone(shape);
  SliceParameters p = getParameters(builder, loc, part, base);
  return tensor::ExtractSliceOp::create(builder, loc, type, base, p.offsets,
                                        p.sizes, p.strides);
}

/// `base` with the part in which the view lies replaced.
Value CacheVersions::insert(const CacheView &view, Value part, Value base,
                            Location loc) {
  if (!view.layout.isSliced())
    return part;
  SliceParameters p = getParameters(builder, loc, view.layout.getPart(), base);
  auto insert = tensor::InsertSliceOp::create(builder, loc, part, base,
                                              p.offsets, p.sizes, p.strides);
  inserted[insert] = view.layout.getPart();
  replaced.push_back(insert);
  return insert;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// Drops and splits dimensions as `placement` says.
static Value reshapeValues(OpBuilder &builder, Location loc, Value values,
                           const Placement &placement) {
  if (placement.droppedValueDims.any())
    values = tensor::dropGivenUnitDims(builder, loc, values,
                                       placement.droppedValueDims);
  if (!placement.splitsValues())
    return values;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> sizes : placement.valueSplits) {
    groups.emplace_back();
    for (int64_t size : sizes) {
      groups.back().push_back(shape.size());
      shape.push_back(size);
    }
  }
  auto type = cast<RankedTensorType>(values.getType()).clone(shape);
  return tensor::ExpandShapeOp::create(builder, loc, type, values, groups);
}

/// The bits of `values` as elements of the type `element`.
static Value bitcastValues(OpBuilder &builder, Location loc, Value values,
                           Type element) {
  auto type = cast<RankedTensorType>(values.getType());
  if (type.getElementType() == element)
    return values;
  // Back from where a bitcast came is no bitcast.
  if (auto bitcast = values.getDefiningOp<arith::BitcastOp>())
    if (bitcast.getIn().getType() == type.clone(element))
      return bitcast.getIn();
  return arith::BitcastOp::create(builder, loc, type.clone(element), values);
}

void CacheVersions::write(Operation *op, const RowWrite &write,
                          const CacheView &view, const Placement &placement,
                          ValueRange indices, Value mask, Value values,
                          kv::NegativePolicy negative,
                          kv::BoundsPolicy outOfBounds) {
  Location loc = op->getLoc();
  Value base = chain.convertCache(view.base);
  builder.setInsertionPoint(op);
  Value part = extract(view, base, loc);
  values = reshapeValues(builder, loc, values, placement);
  values =
      bitcastValues(builder, loc, values,
                    cast<RankedTensorType>(part.getType()).getElementType());
  auto written = kv::WriteOp::create(builder, loc, indices, mask, part, values,
                                     placement.map, placement.order,
                                     write.isBox, negative, outOfBounds);
  Value version = insert(view, written->getResult(0), base, loc);
  replace(op, version, view);
}

/// Users of the result of `op`, which has the type of `view`, see it in
/// `version`, a new version of the view's base.
void CacheVersions::replace(Operation *op, Value version,
                            const CacheView &view) {
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), kFromBuiltin, version,
                       view.base.getType());
  Operation *cast = builder.create(state);
  Value seen = cast->getResult(0);
  chain.record(seen, version);
  replaced.append({op, cast});
  replaced.append(view.chain);
  for (Operation *link : view.isBase() ? ArrayRef<Operation *>() : view.chain) {
    IRMapping mapping;
    mapping.map(getViewSource(link), seen);
    replaced.push_back(builder.clone(*link, mapping));
    seen = replaced.back()->getResult(0);
  }
  op->replaceAllUsesWith(ValueRange(seen));
}

//===----------------------------------------------------------------------===//
// Putting back
//===----------------------------------------------------------------------===//

/// The builtin tensor behind a torch tensor that is a version of a cache.
static Value getVersion(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isFromBuiltin(op) ? op->getOperand(0) : Value();
}

/// Is `version` the tensor `of`, a builtin one, with changes in `part` only?
bool CacheVersions::isUpdate(Value version, Value of, const Part &part) {
  while (version != of) {
    auto insert = version.getDefiningOp<tensor::InsertSliceOp>();
    auto it = insert ? inserted.find(insert) : inserted.end();
    if (it == inserted.end() || !it->second.isInside(part))
      return false;
    version = insert.getDest();
  }
  return true;
}

bool CacheVersions::putBack(const SliceScatter &scatter) {
  ViewRefusal why;
  FailureOr<CacheView> source = readView(scatter.source, why);
  if (failed(source))
    return false;
  Value version = getVersion(source->base);
  FailureOr<CacheView> slice = readTargetSlice(scatter, why);
  if (!version || failed(slice) || slice->type != source->type ||
      !slice->layout.equals(source->layout))
    return false;
  // All of the target is replaced where the slice is no proper one.
  Value old = getVersion(slice->base);
  if (!old)
    old = chain.lookup(slice->base);
  bool isAll = !slice->layout.isSliced() &&
               getOrigin(slice->base) == getOrigin(source->base);
  if (!isAll && (!old || !isUpdate(version, old, slice->layout.getPart())))
    return false;
  llvm::append_range(replaced, scatter.mask);
  FailureOr<CacheView> target = readView(scatter.target, why);
  replace(scatter.op, version, *target);
  return true;
}

bool CacheVersions::undoViews(Operation *op) {
  ViewRefusal why;
  FailureOr<CacheView> view = readView(op->getResult(0), why);
  if (failed(view) || view->chain.empty() || !view->isBase() ||
      !getVersion(view->base))
    return false;
  // A copy of a version outlives it.
  if (llvm::any_of(view->chain, [](Operation *link) {
        return getTorchName(link) == "torch.aten.clone";
      }))
    return false;
  op->getResult(0).replaceAllUsesWith(view->base);
  replaced.append(view->chain);
  return true;
}
