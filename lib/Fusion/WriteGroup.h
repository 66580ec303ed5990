//===- WriteGroup.h - Writes that one launch may do -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_WRITEGROUP_H
#define KVFUSE_FUSION_WRITEGROUP_H

#include "InPlace.h"
#include "Slices.h"

namespace kvfuse {

/// Neighbouring writes of one block, in program order, with the operations that
/// take their slices out and put them back.
class WriteGroup {
public:
  explicit WriteGroup(CacheBases &bases) : bases(&bases) {}

  void add(mlir::kv::WriteOp write);

  llvm::ArrayRef<mlir::kv::WriteOp> getMembers() const { return members; }
  mlir::Operation *first() const {
    return getWithSlices(members.front()).front();
  }
  mlir::Operation *last() const { return getWithSlices(members.back()).back(); }

  /// Is `op` a write of the group, or does it put back what one returns?
  bool contains(mlir::Operation *op) const { return ops.contains(op); }

  /// SM2: a write of the group that may put rows where `write` puts some, also
  /// for all that a test at run time could tell, or null.
  mlir::kv::WriteOp findOverlap(mlir::kv::WriteOp write) const;

private:
  CacheBases *bases;
  llvm::SmallVector<mlir::kv::WriteOp> members;
  llvm::SmallDenseSet<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<mlir::kv::WriteOp, unsigned>>>
      dests;
};

/// Is `write` computed from results of `group`, as the next layer's is? Going
/// on from the group's version of a pool does not count.
bool dependsOn(const WriteGroup &group, mlir::kv::WriteOp write);

/// Moves `write` behind the last write of `group`. Returns the operation in the
/// way, or null if it was moved.
mlir::Operation *moveUp(const WriteGroup &group, mlir::kv::WriteOp write);

/// Moves all of `group` in front of `write`. Returns the operation in the way,
/// or null if they were moved.
mlir::Operation *moveDown(const WriteGroup &group, mlir::kv::WriteOp write);

/// Do nothing but computations of values that do not need `previous` stand
/// between it and `write`? Then its other tokens are what keeps them apart.
bool isNextTo(const WriteGroup &previous, mlir::kv::WriteOp write);

} // namespace kvfuse

#endif // KVFUSE_FUSION_WRITEGROUP_H
