//===- Caches.h - Versions of a cache in SSA --------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On tensors every write makes a new version of its cache. These functions
// follow a version back to the argument it came from and forward to whoever may
// read it.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_CACHES_H
#define KVFUSE_FUSION_CACHES_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Fusion/TypeCasts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse {

/// Whose versions values are. What is asked for once is remembered, so that all
/// versions together are followed in linear time.
class CacheBases {
public:
  /// The value that `version` is made from by writes, type casts, slices and
  /// insertions, around loops and in branches: an argument, or the result of
  /// some other operation.
  mlir::Value lookup(mlir::Value version);

  /// The argument of a function that `version` is a version of, or null.
  mlir::BlockArgument getArgument(mlir::Value version);

private:
  /// The value that `version` is the next version, or a slice, of, or null.
  mlir::Value getPrevious(mlir::Value version);

  llvm::DenseMap<mlir::Value, mlir::Value> previous;
};

/// Does `op` not look at the contents of its operand: is it a type cast, or a
/// question for a size?
bool isNoAccess(mlir::Operation *op);

/// What may share memory with the contents of a version.
class Aliases {
public:
  /// `version`, the values that hold the same contents, and what may share
  /// memory with those: type casts, views, and results of operations that are
  /// not known. Of a version that is a slice, these are the pool that it was
  /// taken from and its older versions, but not their slices that are disjoint
  /// from it. A write or an insertion into a version returns the next version,
  /// which is not among them. Of operations other than type casts, only those
  /// that may run before `until` are followed.
  Aliases(mlir::Value version, mlir::Operation *until);

  bool contains(mlir::Value value) const { return values.contains(value); }
  llvm::ArrayRef<mlir::Value> getValues() const { return values.getArrayRef(); }

  /// May the use of one of the values be one of the contents?
  bool isAccess(mlir::OpOperand &use) const;

  /// Does `write` read, as index, mask or values, one of the values?
  bool areReadBy(mlir::kv::WriteOp write) const;

private:
  explicit Aliases(mlir::Operation *until) : until(until) {}

  void addHolders(mlir::Value version);
  void addReturning(mlir::scf::ForOp loop, mlir::OpOperand &yielded);
  void addUsers();
  void addResultsOf(mlir::OpOperand &use);
  void add(mlir::ValueRange added);

  mlir::Operation *until;
  llvm::SetVector<mlir::Value> values;
  /// Of values that hold more than the version: the part that matters.
  llvm::DenseMap<mlir::Value, mlir::tensor::ExtractSliceOp> parts;
};

/// May `op` run once `other` has run, both inside one function? What `op` holds
/// is not asked for.
bool mayRunAfter(mlir::Operation *op, mlir::Operation *other);

/// The innermost operation inside the function that may run `op` and `other`
/// again, on the same `value`, or null.
mlir::Operation *getLoopAround(mlir::Operation *op, mlir::Operation *other,
                               mlir::Value value);

/// On buffers: the buffer that `memref` is a view of.
mlir::Value getBufferBase(mlir::Value memref);

/// Was `write` refused by an earlier pass?
bool isRefused(mlir::kv::WriteOp write);

} // namespace kvfuse

#endif // KVFUSE_FUSION_CACHES_H
