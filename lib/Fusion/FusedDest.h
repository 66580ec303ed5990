//===- FusedDest.h - A destination of a fused write -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_FUSEDDEST_H
#define KVFUSE_FUSION_FUSEDDEST_H

#include "IndexAnalysis.h"
#include "ValueProducers.h"

namespace kvfuse {

/// A destination of the fused write.
struct FusedDest {
  mlir::AffineMap map, order;
  bool box;
  PeeledValues values;
  /// The dimensions of the values, of size 1, that are no rows.
  llvm::SmallBitVector dropped;
  /// Why the destination must not be fused, if so.
  std::optional<Fault> fault;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_FUSEDDEST_H
