//===- ValueProducers.h - Producers of values as regions --------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed element by element on the values moves into the region of
// their destination, as the same operations on scalars, in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_VALUEPRODUCERS_H
#define KVFUSE_FUSION_VALUEPRODUCERS_H

#include "ElementAccess.h"
#include "IndexSimplify.h"
#include "kvfuse/Dialect/KV/IR/KV.h"

namespace kvfuse {

/// Values of a destination, with the cheap elementwise operations taken off
/// that make them from one other tensor: casts, scales, clamps, bitcasts, with
/// scalars or tensors of one element for their other operands.
struct PeeledValues {
  /// An element of what is left, once `reshapes` have been applied to it.
  ElementAccess source;
  /// Reshapes that stood between the operations and mix dimensions, the last
  /// one first.
  llvm::SmallVector<mlir::Operation *> reshapes;
  /// The operations, the last one first.
  llvm::SmallVector<mlir::Operation *> producers;
  /// Where that ended, at what may be no source.
  ElementAccess rest;
};

/// Peels `values`, also through what moves them, as long as `canRead` allows
/// the source; nothing if it never does.
std::optional<PeeledValues>
peelProducers(ElementAccess values, const GridSplit *split,
              const ExprRanges &ranges,
              llvm::function_ref<bool(const ElementAccess &)> canRead);

/// Applies `reshapes`, the last one first, to `tensor`, of whatever elements.
mlir::Value applyReshapes(mlir::OpBuilder &builder, mlir::Value tensor,
                          llvm::ArrayRef<mlir::Operation *> reshapes);

/// write(f(v), body) -> write(v, body . f): every element goes through the same
/// operations. `region` is the region of a destination of `write`.
void prependProducers(mlir::kv::WriteOp write, mlir::Region &region,
                      llvm::ArrayRef<mlir::Operation *> producers);

/// Is `op` a product or quotient, as that by a scale is?
bool isScale(mlir::Operation *op);

/// Is `op` no cast, or one that rounds to nearest even (SC1)?
bool roundsToNearest(mlir::Operation *op);

} // namespace kvfuse

#endif // KVFUSE_FUSION_VALUEPRODUCERS_H
