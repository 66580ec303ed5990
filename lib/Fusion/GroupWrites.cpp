//===- GroupWrites.cpp - Writes of the same tokens side by side -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why moving is legal. Tensors are values: whatever stands where, SSA fixes
// what each operation reads, so the only question is dominance, and whether
// bufferization in place stays possible.
//
// - Up: write w moves up to its group. Its operands must be there: what
// computes
//   them after the first write of the group, all without memory effects and no
//   write itself, moves in front of the group. No operation on the way may use
//   the old contents of w's cache: after the move it would read a version that
//   has been overwritten, and bufferization would copy the cache to save it.
// - Down: the group moves down to w. No operation on the way may use a result
// of
//   the group, SSA forbids it, and none may write a cache that the group reads
//   values or indices from.
//
// Operations that are not known may have side effects, but not on the caches of
// the group, which they do not take as operands: distinct arguments do not
// overlap (SM8).
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVGROUPWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
/// Neighbouring writes, in program order.
struct Group {
  SmallVector<WriteOp> members;
  llvm::SmallDenseSet<Value> bases;

  WriteOp first() { return members.front(); }
  WriteOp last() { return members.back(); }
  void add(WriteOp write) {
    members.push_back(write);
    for (Value dest : write.getDests())
      bases.insert(getCacheBase(dest));
  }
  /// SM2: does `write` put rows into a cache of the group?
  bool sharesCache(WriteOp write) {
    return llvm::any_of(write.getDests(), [&](Value dest) {
      return bases.contains(getCacheBase(dest));
    });
  }
};
} // namespace

/// Does `op` stand between `first` and `last` in their block?
static bool isBetween(Operation *op, Operation *first, Operation *last) {
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && first->isBeforeInBlock(ancestor) &&
         ancestor->isBeforeInBlock(last);
}

/// The first operation between `group` and `write` that uses an alias of
/// `version`, or null.
static Operation *findUseOnTheWay(Value version, Operation *from,
                                  WriteOp write) {
  for (Value alias : getAliases(version, write))
    for (Operation *user : alias.getUsers())
      if (!isTypeCast(user) && isBetween(user, from, write))
        return user;
  return nullptr;
}

/// Is `write` computed from results of `group`, as the next layer's is?
static bool dependsOn(Group &group, WriteOp write) {
  Block *block = write->getBlock();
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Operation *> worklist = {write};
  while (!worklist.empty()) {
    bool found = false;
    worklist.pop_back_val()->walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        Operation *ancestor =
            def ? block->findAncestorOpInBlock(*def) : nullptr;
        if (!ancestor || ancestor->isBeforeInBlock(group.first()) ||
            !seen.insert(ancestor).second)
          continue;
        auto member = dyn_cast<WriteOp>(ancestor);
        found |= member && llvm::is_contained(group.members, member);
        worklist.push_back(ancestor);
      }
    });
    if (found)
      return true;
  }
  return false;
}

/// Collects, in block order, what computes the operands of `write` after
/// `group` begins. Returns the operation that cannot move in front of the
/// group, or null.
static Operation *collectProducers(Group &group, WriteOp write,
                                   SmallVectorImpl<Operation *> &producers) {
  Block *block = write->getBlock();
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Operation *> worklist = {write};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    // What the regions of an operation use, it needs too.
    Operation *blocked = nullptr;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || def->getBlock() != block ||
            def->isBeforeInBlock(group.first()) || !seen.insert(def).second)
          continue;
        if (isa<WriteOp>(def) || !(isMemoryEffectFree(def) || isTypeCast(def)))
          blocked = def;
        producers.push_back(def);
        worklist.push_back(def);
      }
    });
    if (blocked)
      return blocked;
  }
  llvm::sort(producers,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return nullptr;
}

/// Moves `write` behind the last write of `group`. Returns the operation in the
/// way, or null if it was moved.
static Operation *moveUp(Group &group, WriteOp write) {
  SmallVector<Operation *> producers;
  if (Operation *blocked = collectProducers(group, write, producers))
    return blocked;
  for (Value dest : write.getDests())
    if (Operation *user = findUseOnTheWay(dest, group.last(), write))
      return user;
  for (Operation *producer : producers)
    producer->moveBefore(group.first());
  write->moveAfter(group.last());
  return nullptr;
}

/// The first write between `group` and `write` into a cache that the group
/// reads, or null.
static Operation *findWriteOnTheWay(Group &group, WriteOp write) {
  Operation *found = nullptr;
  for (Operation *op = group.last()->getNextNode(); op != write && !found;
       op = op->getNextNode())
    op->walk([&](WriteOp between) {
      for (Value dest : between.getDests()) {
        llvm::SetVector<Value> old = getAliases(dest, between);
        if (llvm::any_of(group.members,
                         [&](WriteOp member) { return readsAny(member, old); }))
          found = between;
      }
    });
  return found;
}

/// Moves all of `group` in front of `write`. Returns the operation in the way,
/// or null if they were moved.
static Operation *moveDown(Group &group, WriteOp write) {
  SmallVector<Operation *> casts;
  for (WriteOp member : group.members)
    for (Value result : member->getResults()) {
      if (Operation *user = findUseOnTheWay(result, group.last(), write))
        return user;
      for (Value alias : getAliases(result, write)) {
        if (llvm::is_contained(write->getOperands(), alias))
          return write;
        Operation *def = alias.getDefiningOp();
        if (def && isTypeCast(def) && isBetween(def, group.last(), write))
          casts.push_back(def);
      }
    }
  if (Operation *other = findWriteOnTheWay(group, write))
    return other;
  for (WriteOp member : group.members)
    member->moveBefore(write);
  // Type casts of the results follow them, behind the whole group.
  for (Operation *cast : llvm::reverse(casts))
    cast->moveAfter(write);
  return nullptr;
}

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
  LogicalResult runOnBlock(Block &block) {
    SmallVector<WriteOp> writes;
    for (auto write : block.getOps<WriteOp>())
      if (write.hasTensorForm() && !isRefused(write))
        writes.push_back(write);

    // The groups of each index vector; a write may join the one of its tokens.
    DenseMap<Value, SmallVector<Group>> groupsOf;
    for (WriteOp write : writes) {
      SmallVector<Group> &groups = groupsOf[write.getIndices().front()];
      auto *it = llvm::find_if(groups, [&](Group &other) {
        return other.first().hasSameTokens(write);
      });
      bool isNew = it == groups.end();
      Group &group = isNew ? groups.emplace_back() : *it;
      if (isNew || group.sharesCache(write) || dependsOn(group, write)) {
        group = Group();
      } else if (moveUp(group, write)) {
        if (Operation *obstacle = moveDown(group, write)) {
          emitRefusal(write, Refusal::Order,
                      "'" + obstacle->getName().getStringRef() +
                          "' stands between this write and the one before it",
                      "write all caches of a layer before any of them is read",
                      obstacle->getLoc());
          if (required)
            return write.emitError("the write was not grouped with the one "
                                   "before it, and fusing is required");
          group = Group();
        }
      }
      group.add(write);
    }
    return success();
  }
};
} // namespace
