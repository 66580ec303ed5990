//===- Footprint.cpp - The elements of a buffer that are touched ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Analysis/Footprint.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kv;

/// A coordinate that is written lies inside the cache (SX5). One that may be
/// negative may be wrapped (SX4) to anywhere.
Footprint::Footprint(WriteOp write, unsigned i)
    : buffer(write.getDests()[i]), dims(write.getMapIntervals(i)) {
  ShapedType type = write.getDestType(i);
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    Interval inside = getIntervalBelow(type.getDimSize(dim));
    Interval interval = write.getCoordinateInterval(i, dim);
    if (interval.mayBeNegative() && write.getNegative() == NegativePolicy::wrap)
      coordinates.push_back({AffineExpr(), inside});
    else
      coordinates.push_back(
          {write.getMap(i).getResult(dim), intersect(interval, inside)});
  }
  stripViews();
}

Footprint::Footprint(Value view) : buffer(view) {
  for (int64_t size : cast<ShapedType>(view.getType()).getShape())
    coordinates.push_back({AffineExpr(), getIntervalBelow(size)});
  stripViews();
}

void Footprint::stripViews() {
  while (Operation *def = buffer.getDefiningOp()) {
    if (auto write = dyn_cast<WriteOp>(def)) {
      buffer = write.getDests()[cast<OpResult>(buffer).getResultNumber()];
    } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(def)) {
      buffer = insertion.getDest();
    } else if (auto extraction = dyn_cast<tensor::ExtractSliceOp>(def)) {
      stripSlice(extraction, extraction.getSourceType(),
                 extraction.getDroppedDims());
      buffer = extraction.getSource();
    } else if (auto subview = dyn_cast<memref::SubViewOp>(def)) {
      stripSlice(subview, subview.getSourceType(), subview.getDroppedDims());
      buffer = subview.getSource();
    } else if (isa<tensor::CastOp, memref::CastOp>(def) &&
               isa<RankedTensorType, MemRefType>(
                   def->getOperand(0).getType())) {
      buffer = def->getOperand(0);
    } else {
      break;
    }
  }
}

void Footprint::stripSlice(OffsetSizeAndStrideOpInterface op, ShapedType source,
                           const llvm::SmallBitVector &dropped) {
  slice = op;
  MLIRContext *context = op->getContext();
  SmallVector<Coordinate> outer;
  unsigned next = 0;
  for (unsigned dim = 0; dim < source.getRank(); ++dim) {
    Coordinate inner{getAffineConstantExpr(0, context), {0, 0}};
    if (!dropped[dim])
      inner = coordinates[next++];
    Interval inside = getIntervalBelow(source.getDimSize(dim));
    if (op.isDynamicOffset(dim) || op.isDynamicStride(dim)) {
      outer.push_back({AffineExpr(), inside});
      continue;
    }
    int64_t offset = op.getStaticOffset(dim), stride = op.getStaticStride(dim);
    Interval interval = inner.interval * stride + Interval{offset, offset};
    outer.push_back({inner.expr ? inner.expr * stride + offset : AffineExpr(),
                     intersect(interval, inside)});
  }
  coordinates = std::move(outer);
}
