//===- WriteRun.h - Writes on buffers that may be one -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_WRITERUN_H
#define KVFUSE_FUSION_WRITERUN_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "llvm/ADT/SetVector.h"
#include <string>

namespace mlir {
class AliasAnalysis;
} // namespace mlir

namespace kvfuse {

/// Writes of one block, for the same tokens, that may be done as one at the
/// place of the last.
class WriteRun {
public:
  WriteRun(mlir::kv::WriteOp first, mlir::AliasAnalysis &aliases) {
    add(first, aliases);
  }

  mlir::kv::WriteOp getFirst() const { return writes.front(); }
  /// May one kernel take the operands of `write`, too?
  bool hasRoomFor(mlir::kv::WriteOp write) const;

  /// Adds `write`, unless it is known that it cannot be done together with the
  /// run, or not known that it can, with `onlyProven`. Says which rule that
  /// would break.
  bool tryAdd(mlir::kv::WriteOp write, mlir::AliasAnalysis &aliases,
              bool onlyProven);

  /// May the writes be done after `op` as well as before?
  bool commutesWith(mlir::Operation *op, mlir::AliasAnalysis &aliases) const;

  /// w1; ...; wn -> one write with all their destinations, at the last one's
  /// place: they read the same tokens, and either write disjoint bytes or still
  /// stand for one after the other.
  void merge() const;

private:
  void add(mlir::kv::WriteOp write, mlir::AliasAnalysis &aliases);

  llvm::SmallVector<mlir::kv::WriteOp> writes;
  llvm::SetVector<mlir::Value> dests, inputs;
  /// Are all destinations proven to be disjoint?
  bool isDisjoint = true;
};

/// Strides and offset of `memref`, "?" where they are dynamic.
std::string getLayoutText(mlir::Value memref);

} // namespace kvfuse

#endif // KVFUSE_FUSION_WRITERUN_H
