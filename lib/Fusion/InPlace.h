//===- InPlace.h - May a cache be written in place? -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INPLACE_H
#define KVFUSE_FUSION_INPLACE_H

#include "Caches.h"
#include "kvfuse/Dialect/KV/Analysis/Conflicts.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace kvfuse {

/// Did the source declare that argument `number` of `func` may be written
/// (SM5)?
bool isDeclaredMutated(mlir::FunctionOpInterface func, unsigned number);

/// What may share memory with the destinations of writes, of a program that
/// does not change meanwhile.
class OldContents {
public:
  const Aliases &get(mlir::kv::WriteOp write, unsigned i);

private:
  llvm::DenseMap<mlir::Value, std::unique_ptr<Aliases>> aliases;
};

/// SM3 and SM5, on SSA: may all destinations of `write` be written in place? If
/// not, emits a remark `cache-copied`, `old-cache-live`, `alias-value` or
/// `dest-alias`. Where copies of what the write reads would do, it gets them,
/// and is refused (`alias-value`), but may be done.
bool mayWriteInPlace(mlir::kv::WriteOp write, CacheBases &bases,
                     OldContents &oldContents);

/// SM2: of two versions of one cache, do destination `i` of `lhs` and
/// destination `j` of `rhs` store to the same elements? `Maybe` for slices at
/// places that only the running program knows: kv-version-layouts tests it.
mlir::kv::Overlap classifyRows(mlir::kv::WriteOp lhs, unsigned i,
                               mlir::kv::WriteOp rhs, unsigned j);

/// Neighbouring writes that one launch may do.
class Run {
public:
  Run(CacheBases &bases, OldContents &oldContents)
      : bases(&bases), oldContents(&oldContents) {}

  /// SM2 and SM3: may `write` be done with the others? Not if it writes rows of
  /// a cache of theirs that are known to be the same, nor, with a remark
  /// `alias-value`, if one reads what the other writes.
  bool mayAdd(mlir::kv::WriteOp write);
  void add(mlir::kv::WriteOp write);

  llvm::ArrayRef<mlir::kv::WriteOp> getWrites() const { return writes; }

private:
  CacheBases *bases;
  OldContents *oldContents;
  llvm::SmallVector<mlir::kv::WriteOp> writes;
  /// By cache, the destinations in it.
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<mlir::kv::WriteOp, unsigned>>>
      dests;
  /// What the writes read, and what may share memory with what they write.
  llvm::DenseMap<mlir::Value, mlir::kv::WriteOp> read, written;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_INPLACE_H
