//===- IndexAnalysis.h - Index values as affine functions -------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INDEXANALYSIS_H
#define KVFUSE_FUSION_INDEXANALYSIS_H

#include "ElementAccess.h"
#include "IndexRanges.h"
#include "IndexSimplify.h"
#include "TokenGrid.h"
#include "kvfuse/Remarks/Refusal.h"

namespace kvfuse {

/// Why a write is not fused, and the operation at fault.
struct Fault {
  Refusal reason;
  mlir::Operation *cause;
};

/// A tensor of index values that is computed before the write, by other means
/// than arithmetic: an argument, a gather, a load, a selection.
struct IndexRoot {
  mlir::Value tensor;
  /// Where a token's value stands in it.
  llvm::SmallVector<mlir::AffineExpr> coords;
  /// The dimensions of the grid that it has. It is the same along the others.
  llvm::SmallBitVector span;
};

using Coords = llvm::ArrayRef<mlir::AffineExpr>;

/// The dimensions of a grid of shape `grid` that `coords` are, for a tensor of
/// shape `shape`; nothing if they are others, or in another order. Dimensions
/// of size 1 do not count.
std::optional<llvm::SmallBitVector> getSpan(Coords coords,
                                            llvm::ArrayRef<int64_t> shape,
                                            llvm::ArrayRef<int64_t> grid);

/// Evaluates index tensors at a point of the token grid. The result is an
/// affine expression: its dimensions are the grid coordinates, its symbol k is
/// the value of root k, widened to 64 bits (SX1).
///
/// An element is traced back through what only moves it (ElementAccess.h), into
/// the bodies of `tensor.generate` and structured operations, and through
/// integer arithmetic (SX3). Where that ends, the tensor is a root, if it can
/// be read at grid coordinates; otherwise the tensor computed from it is.
class IndexAnalysis {
public:
  /// Which tensors may be roots.
  enum class RootKind {
    Any,   ///< Those that have some of the grid's dimensions, in their order.
    Span,  ///< Those that have exactly the dimensions `span`.
    Whole, ///< Those that have the shape of the grid.
  };

  IndexAnalysis(IndexRanges &ranges, const TokenGrid &grid, RootKind kind,
                llvm::SmallBitVector span = {});

  /// The value of `index`, an operand of the write, at the grid coordinates.
  /// Null if `getRejection()` says why not, or if no root of the kind wanted
  /// was found.
  mlir::AffineExpr analyze(mlir::Value index);

  /// The same for any element; null without a rejection. Once the roots have
  /// been pruned it is an expression in those that are left.
  mlir::AffineExpr tryEvaluate(mlir::Value tensor, Coords coords);

  /// Makes `tensor`, over the whole grid, a root. No others follow.
  mlir::AffineExpr addWholeRoot(mlir::Value tensor);

  /// From here on `expr` counts as non-negative: where it is not, nothing is
  /// written.
  void assumeNonNegative(mlir::AffineExpr expr);
  /// All that is divided does (negative=undefined).
  void assumeAllNonNegative() { allNonNegative = true; }

  /// The roots that `exprs` use become roots 0 and up; the others go.
  void pruneRoots(llvm::MutableArrayRef<mlir::AffineExpr> exprs);

  llvm::ArrayRef<IndexRoot> getRoots() const { return roots; }
  const ExprRanges &getExprRanges() const { return exprRanges; }
  const std::optional<Fault> &getRejection() const { return rejection; }

private:
  mlir::AffineExpr evaluate(mlir::Value value, Coords coords);
  mlir::AffineExpr evaluateTensor(mlir::Value tensor, Coords coords);
  mlir::AffineExpr evaluateScalar(mlir::Value scalar);
  mlir::AffineExpr evaluateGenerate(mlir::Operation *op, Coords coords);
  mlir::AffineExpr evaluateStructured(mlir::linalg::LinalgOp op, Coords coords);
  mlir::AffineExpr evaluateExtract(mlir::Operation *op);
  mlir::AffineExpr
  evaluateBody(mlir::Value result,
               llvm::DenseMap<mlir::Value, mlir::AffineExpr> known);

  // Arithmetic, in IndexArithmetic.cpp. Operands of operations on tensors are
  // evaluated at `coords`.
  mlir::AffineExpr evaluateArithmetic(mlir::Operation *op, Coords coords);
  mlir::AffineExpr evaluateApply(mlir::Operation *op, Coords coords);
  mlir::AffineExpr evaluateWidthChange(mlir::Operation *op, Coords coords);
  mlir::AffineExpr evaluateSum(mlir::Operation *op, Coords coords);
  mlir::AffineExpr evaluateProduct(mlir::Operation *op, Coords coords);
  mlir::AffineExpr evaluateDivision(mlir::Operation *op, Coords coords);
  std::optional<int64_t> getConstant(mlir::Value value, Coords coords);
  mlir::AffineExpr checkOverflow(mlir::AffineExpr expr, mlir::Operation *op);
  bool isNonNegative(mlir::Value value, mlir::AffineExpr expr);

  mlir::AffineExpr addRoot(mlir::Value tensor, Coords coords);
  mlir::AffineExpr simplify(mlir::AffineExpr expr) {
    return expr ? simplifyByRanges(expr, exprRanges) : expr;
  }
  mlir::AffineExpr reject(Refusal reason, mlir::Operation *cause);

  IndexRanges &ranges;
  const TokenGrid &grid;
  RootKind kind;
  llvm::SmallBitVector span;
  llvm::SmallVector<IndexRoot> roots;
  /// Of the grid coordinates and of the roots.
  ExprRanges exprRanges;
  /// No root may be added.
  bool isFrozen = false;
  bool allNonNegative = false;
  llvm::SmallVector<mlir::AffineExpr> nonNegative;
  /// What was evaluated before, by tensor.
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<ElementAccess, mlir::AffineExpr>>>
      evaluated;
  /// The scalars of the body that is looked at.
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> scalars;
  std::optional<Fault> rejection;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_INDEXANALYSIS_H
