//===- ElementwiseRegions.h - Tensor operations as regions ------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed element by element on tensors moves into the regions of a
// write, as the same operations on scalars, in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_ELEMENTWISEREGIONS_H
#define KVFUSE_FUSION_ELEMENTWISEREGIONS_H

#include "IndexAnalysis.h"
#include "kvfuse/Dialect/KV/IR/KV.h"

namespace kvfuse {

/// The cheap elementwise operations that make `value` from one other tensor:
/// casts, scales, clamps, bitcasts, with scalars for their other operands.
/// Returns that tensor; `producers` are the operations, the last one first.
mlir::Value peelProducers(mlir::Value value,
                          llvm::SmallVectorImpl<mlir::Operation *> &producers);

/// write(f(v), body) -> write(v, body . f): every element goes through the same
/// operations. `region` is the region of the destination.
void prependProducers(mlir::OpBuilder &builder, mlir::Region &region,
                      llvm::ArrayRef<mlir::Operation *> producers);

/// Rebuilds a mask that is computed from index vectors in the region `where`.
class MaskAbsorber {
public:
  MaskAbsorber(mlir::OpBuilder &builder, const IndexAnalysis &analysis)
      : builder(builder), analysis(analysis) {}

  /// Can `value` be computed from the roots and constants alone?
  bool canAbsorb(mlir::Value value);

  /// The scalar form of `value`, at the insertion point; `slots` are the roots
  /// as i64.
  mlir::Value absorb(mlir::Value value, mlir::ValueRange slots);

private:
  bool isRoot(mlir::Value value);

  mlir::OpBuilder &builder;
  const IndexAnalysis &analysis;
  llvm::SmallDenseSet<mlir::Value> visited;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_ELEMENTWISEREGIONS_H
