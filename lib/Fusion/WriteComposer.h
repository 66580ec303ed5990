//===- WriteComposer.h - Compose a chain into maps and orders ---*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_WRITECOMPOSER_H
#define KVFUSE_FUSION_WRITECOMPOSER_H

#include "FusedDest.h"

namespace kvfuse {

/// Composes the expressions of a write's index operands into its maps.
///
/// Dimensions of the grid that are not kept, for neither a root nor the mask
/// has them, become row coordinates: that of a head iota, of the bytes of a
/// row. They come before the rows that there were.
///
/// While composing, dimension k < g is the coordinate in dimension k of the
/// grid, the next n are the roots, and the rest are the old row coordinates.
class WriteComposer {
public:
  WriteComposer(mlir::kv::WriteOp write, const TokenGrid &grid,
                const IndexAnalysis &analysis,
                llvm::ArrayRef<mlir::AffineExpr> exprs,
                const llvm::SmallBitVector &kept);

  /// Destination `i`; nothing if this choice of roots does not suit it.
  std::optional<FusedDest> compose(unsigned i);

private:
  enum class DimKind { Token, Unit, Root, Demoted, Row };
  using Exprs = llvm::ArrayRef<mlir::AffineExpr>;

  DimKind getKind(unsigned dim) const;
  /// The static extent of a grid or row coordinate, or kDynamic.
  int64_t getExtent(unsigned dim) const;
  llvm::SmallVector<mlir::AffineExpr> getGridCoords() const;
  ExprRanges getRanges() const;
  std::optional<unsigned> getBareRow(mlir::AffineExpr expr) const;
  static bool usesDim(Exprs exprs, unsigned dim);

  llvm::SmallVector<mlir::AffineExpr> substitute() const;
  bool canCover(Exprs results, bool &box) const;
  std::optional<llvm::SmallVector<mlir::AffineExpr>>
  composeMap(bool &box) const;

  ElementAccess getValues() const;
  bool canLeaveOut(unsigned dim, Exprs results) const;
  bool canRead(const ElementAccess &values, Exprs results) const;

  // In WriteFaults.cpp.
  bool isElementScatter(Exprs results) const;
  bool isPerHead(ElementAccess scale) const;
  std::optional<Fault> findFault(Exprs results,
                                 const PeeledValues &values) const;
  FusedDest build(Exprs results, PeeledValues values) const;

  mlir::kv::WriteOp write;
  const TokenGrid &grid;
  const IndexAnalysis &analysis;
  llvm::ArrayRef<mlir::AffineExpr> exprs;
  const llvm::SmallBitVector &kept;
  mlir::MLIRContext *context;
  unsigned gridRank, numRoots;

  // Of the destination that is composed.
  unsigned dest = 0, rowRank = 0;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_WRITECOMPOSER_H
