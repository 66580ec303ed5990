//===- TorchCaches.h - Versions of caches -----------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHCACHES_H
#define KVFUSE_LIB_IMPORT_TORCHCACHES_H

#include "TorchChain.h"
#include "TorchPlacement.h"

namespace kvfuse::torch {

/// Keeps the versions of the caches of one function: a write of a view makes a
/// new version of its base at once, and what torch does to put the view back
/// is then no operation.
///
///   %k = select(%pool, 0)
///   %w = index_put(%k, ..)         select_scatter(%pool, %w, 0)
/// becomes
///   %k = tensor.extract_slice %pool
///   %w = kv.write .. into %k
///   %new = tensor.insert_slice %w into %pool
class CacheVersions {
public:
  CacheVersions(ChainConverter &chain, mlir::MLIRContext *context)
      : chain(chain), builder(context) {}

  /// Replaces the torch write `op` by a kv.write of `view`, placed by
  /// `placement`; `values` are those of the view's element type.
  void write(mlir::Operation *op, const RowWrite &write, const CacheView &view,
             const Placement &placement, mlir::ValueRange indices,
             mlir::Value mask, mlir::Value values,
             mlir::kv::NegativePolicy negative,
             mlir::kv::BoundsPolicy outOfBounds);

  /// Replaces a scatter that puts a written slice back where it came from.
  bool putBack(const SliceScatter &scatter);

  /// Replaces a view that undoes those between a new version and itself.
  bool undoViews(mlir::Operation *op);

  /// Operations that the import has made superfluous, if nobody uses them.
  llvm::ArrayRef<mlir::Operation *> getReplaced() const { return replaced; }

private:
  mlir::Value extract(const CacheView &view, mlir::Value base,
                      mlir::Location loc);
  mlir::Value insert(const CacheView &view, mlir::Value part, mlir::Value base,
                     mlir::Location loc);
  void replace(mlir::Operation *op, mlir::Value version, const CacheView &view);
  bool isUpdate(mlir::Value version, mlir::Value of, const Part &part);

  ChainConverter &chain;
  mlir::OpBuilder builder;
  llvm::SmallVector<mlir::Operation *> replaced;
  /// The part of its destination that an insert_slice of this import writes.
  llvm::DenseMap<mlir::Operation *, Part> inserted;
};

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHCACHES_H
