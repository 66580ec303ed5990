//===- IndexAnalysis.h - Index values as affine functions -------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INDEXANALYSIS_H
#define KVFUSE_FUSION_INDEXANALYSIS_H

#include "IndexRanges.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace kvfuse {

/// Expresses index tensors as affine functions of root vectors: arguments,
/// gathers, loads, anything that is computed before the write. Dimension k of
/// an expression is root k, widened to 64 bits (SX1).
class IndexAnalysis {
public:
  explicit IndexAnalysis(IndexRanges &ranges) : ranges(ranges) {}

  /// Why an index has no such expression, and the operation at fault.
  struct Rejection {
    Refusal reason;
    mlir::Operation *cause;
  };

  /// The expression of `index`, or null if `getRejection()` says why not.
  mlir::AffineExpr analyze(mlir::Value index);

  /// The root that `value` is, if it is one already, seen through widening.
  std::optional<unsigned> lookupRoot(mlir::Value value) const;

  /// Makes `value` a root, and returns its expression.
  mlir::AffineExpr addRoot(mlir::Value value);

  llvm::ArrayRef<mlir::Value> getRoots() const { return roots; }
  const std::optional<Rejection> &getRejection() const { return rejection; }

private:
  mlir::AffineExpr analyzeOp(mlir::Operation *op);
  mlir::AffineExpr analyzeApply(mlir::Operation *op);
  mlir::AffineExpr analyzeWidthChange(mlir::Operation *op);
  mlir::AffineExpr analyzeSum(mlir::Operation *op);
  mlir::AffineExpr analyzeProduct(mlir::Operation *op);
  mlir::AffineExpr analyzeDivision(mlir::Operation *op);
  mlir::AffineExpr reject(Refusal reason, mlir::Operation *cause);
  bool mayOverflow(mlir::Operation *op);

  IndexRanges &ranges;
  llvm::SmallVector<mlir::Value> roots;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> known;
  std::optional<Rejection> rejection;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_INDEXANALYSIS_H
