//===- TorchPlacement.h - A write of a view as one of its base --*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHPLACEMENT_H
#define KVFUSE_LIB_IMPORT_TORCHPLACEMENT_H

#include "TorchRowWrite.h"
#include "TorchViews.h"

namespace kvfuse::torch {

/// What a write of rows of a view writes into the base's part.
struct Placement {
  /// From (grid..., indices..., rows...) to all coordinates of the part, less
  /// its dropped dimensions.
  mlir::AffineMap map;
  /// From (grid..., rows...) to the coordinates of the values.
  mlir::AffineMap order;
  /// Dimensions of the values of size 1 that are left out.
  llvm::SmallBitVector droppedValueDims;
  /// Sizes into which each dimension that is left is split; one size is none.
  llvm::SmallVector<llvm::SmallVector<int64_t>> valueSplits;

  bool splitsValues() const;
};

/// Composes where `write` writes in `view` with where `view` lies in its base.
/// On failure `why` is set: an index of an inner dimension that is not known
/// to be inside, a divisor that is not constant.
mlir::FailureOr<Placement> placeWrite(const RowWrite &write,
                                      const CacheView &view, ViewRefusal &why);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHPLACEMENT_H
