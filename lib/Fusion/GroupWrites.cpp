//===- GroupWrites.cpp - Writes of the same tokens side by side -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "WriteGroup.h"
#include "kvfuse/Remarks/Refusal.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVGROUPWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
struct KVGroupWritesPass : kvfuse::impl::KVGroupWritesBase<KVGroupWritesPass> {
  using KVGroupWritesBase::KVGroupWritesBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Block *block) {
      return failed(runOnBlock(*block)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Makes `write` a neighbour of `group`. If it cannot be, emits a remark.
  static bool join(WriteGroup &group, WriteOp write) {
    if (!moveUp(group, write))
      return true;
    Operation *obstacle = moveDown(group, write);
    if (!obstacle)
      return true;
    emitRefusal(write, Refusal::Order,
                "'" + obstacle->getName().getStringRef() +
                    "' stands between this write and the one before it",
                "write all caches of a layer before any of them is read",
                obstacle->getLoc());
    return false;
  }

  /// SM2: may `write` put rows where `group` puts some? Then emits a remark.
  static bool mayOverlap(WriteGroup &group, WriteOp write) {
    WriteOp member = group.findOverlap(write);
    if (member)
      emitRefusal(write, Refusal::DestAlias,
                  "this write and an earlier one may put rows into one part of "
                  "a buffer",
                  "write each part once, to slices with constant offsets or to "
                  "caches that are arguments of their own",
                  member.getLoc());
    return bool(member);
  }

  /// If `write` begins a group right behind `previous` for no other reason than
  /// its tokens, emits a remark.
  static bool hasTokensOf(WriteOp previous, WriteOp write, CacheBases &bases) {
    if (previous.hasSameTokens(write))
      return true;
    WriteGroup before(bases);
    before.add(previous);
    if (!isNextTo(before, write))
      return true;
    emitRefusal(write, Refusal::DifferentIndices,
                "the write before this one has other index vectors, another "
                "mask or other policies",
                "compute the indices of both from the same vectors",
                previous.getLoc());
    return false;
  }

  LogicalResult runOnBlock(Block &block) {
    SmallVector<WriteOp> writes;
    for (auto write : block.getOps<WriteOp>())
      if (write.hasTensorForm() && !isRefused(write))
        writes.push_back(write);

    // The groups of each index vector; a write may join the one of its tokens.
    CacheBases bases;
    DenseMap<Value, SmallVector<WriteGroup>> groupsOf;
    WriteOp previous;
    for (WriteOp write : writes) {
      SmallVector<WriteGroup> &groups = groupsOf[write.getIndices().front()];
      auto *group = llvm::find_if(groups, [&](WriteGroup &other) {
        return write.hasSameTokens(other.getMembers().front());
      });
      bool joins = true;
      if (group == groups.end()) {
        group = &groups.emplace_back(bases);
      } else if (dependsOn(*group, write)) {
        *group = WriteGroup(bases);
      } else if (mayOverlap(*group, write) || !join(*group, write)) {
        *group = WriteGroup(bases);
        joins = false;
      }
      if (joins && group->getMembers().empty() && previous)
        joins = hasTokensOf(previous, write, bases);
      if (required && !joins)
        return write.emitError("the write was not grouped with the one before "
                               "it, and fusing is required");
      group->add(write);
      previous = write;
    }
    return success();
  }
};
} // namespace
