//===- Footprint.h - The elements of a buffer that are touched --*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_FOOTPRINT_H
#define KVFUSE_FUSION_FOOTPRINT_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace kvfuse {

/// One coordinate of touched elements. The interval always holds; the
/// expression, in dimensions of the write's map, is null if it is not known.
struct Coordinate {
  mlir::AffineExpr expr;
  mlir::kv::Interval interval;
};

/// The elements of `buffer` that a destination of a write, or a view, touches.
/// The buffer is what remains when slices and casts are taken away, on tensors
/// also writes and insertions.
struct Footprint {
  Footprint(mlir::kv::WriteOp write, unsigned i);
  explicit Footprint(mlir::Value view);

  mlir::Value buffer;
  llvm::SmallVector<Coordinate> coordinates;
  /// Values of the dimensions of expressions.
  llvm::SmallVector<mlir::kv::Interval> dims;
  /// The slice of `buffer` that they lie in, if there is one.
  mlir::OffsetSizeAndStrideOpInterface slice;

private:
  void stripViews();
  void stripSlice(mlir::OffsetSizeAndStrideOpInterface op,
                  mlir::ShapedType source, const llvm::SmallBitVector &dropped);
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_FOOTPRINT_H
