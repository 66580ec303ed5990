//===- IndexRanges.h - Bounds of index values -------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INDEXRANGES_H
#define KVFUSE_FUSION_INDEXRANGES_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace kvfuse {

/// Upstream's integer range analysis, run once over an operation and then
/// asked. The operation must not change while it is asked. What the analysis
/// does not answer has the widest range.
class IndexRanges {
public:
  explicit IndexRanges(mlir::Operation *root);

  /// Bounds of every element of `value`, as wide as its element type.
  mlir::ConstantIntRanges getRange(mlir::Value value);

  bool isNonNegative(mlir::Value value) {
    return getRange(value).smin().isNonNegative();
  }

private:
  mlir::ConstantIntRanges getSelectRange(mlir::arith::SelectOp select,
                                         mlir::arith::CmpIOp compare);

  mlir::DataFlowSolver solver;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> selectRanges;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_INDEXRANGES_H
