//===- Footprint.h - The elements of a buffer that are touched --*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_ANALYSIS_FOOTPRINT_H
#define KVFUSE_DIALECT_KV_ANALYSIS_FOOTPRINT_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::kv {

/// One coordinate of touched elements. The interval always holds; the
/// expression, in dimensions of the write's map, is null if it is not known.
struct Coordinate {
  AffineExpr expr;
  Interval interval;
};

/// The elements of `buffer` that a destination of a write, or a view, touches.
/// The buffer is what remains when slices and casts are taken away, on tensors
/// also writes and insertions.
struct Footprint {
  Footprint(WriteOp write, unsigned i);
  explicit Footprint(Value view);

  Value buffer;
  llvm::SmallVector<Coordinate> coordinates;
  /// Values of the dimensions of expressions.
  llvm::SmallVector<Interval> dims;
  /// The slice of `buffer` that they lie in, if there is one.
  OffsetSizeAndStrideOpInterface slice;

private:
  void stripViews();
  void stripSlice(OffsetSizeAndStrideOpInterface op, ShapedType source,
                  const llvm::SmallBitVector &dropped);
};

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_ANALYSIS_FOOTPRINT_H
