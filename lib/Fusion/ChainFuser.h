//===- ChainFuser.h - One write and its chain -------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_CHAINFUSER_H
#define KVFUSE_FUSION_CHAINFUSER_H

#include "WriteComposer.h"

namespace kvfuse {

/// Composes the chain of one write into it: first looks, then rewrites, so that
/// all writes are looked at while the program is as it was.
class ChainFuser {
public:
  explicit ChainFuser(mlir::kv::WriteOp write) : write(write) {}

  mlir::ValueRange getResults() { return write.getResults(); }

  /// Returns why the chain must stay as it is, if it must.
  std::optional<Fault> analyze(IndexRanges &ranges);

  /// Returns the write that has taken the place of the chain. `replaced` are
  /// the results of other writes that have been replaced since `analyze`.
  mlir::kv::WriteOp
  rewrite(const llvm::DenseMap<mlir::Value, mlir::Value> &replaced);

private:
  /// A tensor without some of its dimensions of size 1.
  struct Operand {
    mlir::Value tensor;
    llvm::SmallBitVector dropped;
  };

  /// How the write is to be fused.
  struct Plan {
    llvm::SmallVector<Operand> roots;
    /// The write's index operands, over the roots.
    llvm::SmallVector<mlir::AffineExpr> exprs;
    /// The mask: an operand, with some of the grid's dimensions, or a region.
    std::optional<Operand> mask;
    llvm::SmallBitVector maskSpan;
    std::unique_ptr<mlir::Region> where;
    std::vector<FusedDest> dests;
  };

  using RootKind = IndexAnalysis::RootKind;

  /// Makes a plan with roots of this kind. Without one, `span` becomes the
  /// dimensions that the roots have together.
  bool tryPlan(IndexRanges &ranges, const TokenGrid &grid, RootKind kind,
               llvm::SmallBitVector &span);
  bool finishPlan(Plan candidate, const TokenGrid &grid,
                  IndexAnalysis &analysis, const llvm::SmallBitVector &kept);
  bool canMoveWhere(llvm::ArrayRef<mlir::AffineExpr> exprs, unsigned gridRank);
  bool keepsSizes(llvm::ArrayRef<mlir::AffineExpr> exprs, const TokenGrid &grid,
                  const llvm::SmallBitVector &kept);
  void planMask(Plan &candidate, const TokenGrid &grid, IndexAnalysis &analysis,
                llvm::SmallBitVector &kept, bool isWhole);
  void moveWhere(mlir::kv::WriteOp fused);

  mlir::kv::WriteOp write;
  std::optional<Fault> fault;
  std::optional<Plan> plan;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_CHAINFUSER_H
