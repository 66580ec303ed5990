//===- GroupWrites.cpp - Writes of the same tokens side by side -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why moving is legal. Tensors are values: whatever stands where, SSA fixes
// what each operation reads, so the only question is dominance, and whether
// bufferization in place stays possible. What takes the slices of a write out
// and puts them back moves with it.
//
// - Up: write w moves up to its group. Its operands must be there: what
// computes
//   them after the first write of the group, all without memory effects and no
//   write itself, moves in front of the group. No operation on the way may use
//   the old contents of w's cache: after the move it would read a version that
//   has been overwritten, and bufferization would copy the cache to save it.
//   Slices of the pool that are disjoint from w's hold the same elements before
//   and after w, and become slices of the version after it.
// - Down: the group moves down to w. No operation on the way may use a result
//   of the group, SSA forbids it, and none may write a cache that the group
//   reads values or indices from.
//
// Writes into one cache or pool join a group if they store to different
// elements (SM2). They stay in sequence, each on the result of the last: w's
// version of the pool must be the group's.
//
// Operations that are not known may have side effects, but not on the caches of
// the group, which they do not take as operands: distinct arguments do not
// overlap (SM8).
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "InPlace.h"
#include "Slices.h"
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
class Group {
public:
  explicit Group(CacheBases &bases) : bases(&bases) {}

  SmallVector<WriteOp> members;

  Operation *first() { return getWithSlices(members.front()).front(); }
  Operation *last() { return getWithSlices(members.back()).back(); }
  void add(WriteOp write) {
    members.push_back(write);
    for (auto [i, dest] : llvm::enumerate(write.getDests()))
      dests[bases->lookup(dest)].emplace_back(write, i);
    for (Operation *op : getWithSlices(write))
      ops.insert(op);
  }
  /// Is `op` a write of the group, or does it put back what one returns?
  bool contains(Operation *op) { return ops.contains(op); }
  /// SM2: a write of the group that may put rows where `write` puts some, or
  /// null.
  WriteOp findOverlap(WriteOp write) {
    for (auto [i, dest] : llvm::enumerate(write.getDests()))
      for (auto [member, j] : dests.lookup(bases->lookup(dest)))
        if (!areRowsApart(member, j, write, i))
          return member;
    return {};
  }

private:
  CacheBases *bases;
  llvm::SmallDenseSet<Operation *> ops;
  DenseMap<Value, SmallVector<std::pair<WriteOp, unsigned>>> dests;
};
} // namespace

/// Does `op` stand between `first` and `last` in their block?
static bool isBetween(Operation *op, Operation *first, Operation *last) {
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && first->isBeforeInBlock(ancestor) &&
         ancestor->isBeforeInBlock(last);
}

/// The first operation between `group` and `write` that uses the old contents
/// of destination `dest`, or null.
static Operation *findUseOnTheWay(Value dest, Group &group, WriteOp write) {
  Operation *from = group.last(), *to = getWithSlices(write).front();
  Aliases old(dest, write);
  for (Value value : old.getValues())
    for (OpOperand &use : value.getUses())
      if (isBetween(use.getOwner(), from, to) && old.isAccess(use))
        return use.getOwner();
  return nullptr;
}

/// Follows the operands of `ops`, and of what they hold, to the operations of
/// their block that compute them, no earlier than `start`, and on where `visit`
/// returns true.
static void
visitProducers(ArrayRef<Operation *> ops, Operation *start,
               llvm::function_ref<bool(OpOperand &, Operation *)> visit) {
  Block *block = start->getBlock();
  llvm::SmallDenseSet<Operation *> seen(ops.begin(), ops.end());
  SmallVector<Operation *> worklist(ops);
  while (!worklist.empty())
    worklist.pop_back_val()->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *def = operand.get().getDefiningOp();
        def = def ? block->findAncestorOpInBlock(*def) : nullptr;
        if (def && !seen.contains(def) && !def->isBeforeInBlock(start) &&
            visit(operand, def)) {
          seen.insert(def);
          worklist.push_back(def);
        }
      }
    });
}

/// Is `operand` the version of a pool that a write, in `unit` with its slices,
/// goes on from?
static bool isVersion(OpOperand &operand, ArrayRef<Operation *> unit) {
  Operation *op = operand.getOwner();
  if (!llvm::is_contained(unit, op))
    return false;
  if (auto write = dyn_cast<WriteOp>(op))
    return write.isDpsInit(&operand);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return operand.get() == insert.getDest();
  return operand.get() == cast<tensor::ExtractSliceOp>(op).getSource();
}

/// Is `write` computed from results of `group`, as the next layer's is? Going
/// on from the group's version of a pool does not count.
static bool dependsOn(Group &group, WriteOp write) {
  SmallVector<Operation *> unit = getWithSlices(write);
  bool found = false;
  visitProducers(unit, group.first(), [&](OpOperand &operand, Operation *def) {
    bool ofGroup = group.contains(def);
    found |= ofGroup && !isVersion(operand, unit);
    return !ofGroup && !found;
  });
  return found;
}

/// Collects, in block order, what computes the operands of `write` after
/// `group` begins. Returns the operation that cannot move in front of the
/// group, or null.
static Operation *collectProducers(Group &group, WriteOp write,
                                   SmallVectorImpl<Operation *> &producers) {
  Operation *blocked = nullptr;
  visitProducers(
      getWithSlices(write), group.first(), [&](OpOperand &, Operation *def) {
        if (group.contains(def) || blocked)
          return false;
        if (isa<WriteOp>(def) || !(isMemoryEffectFree(def) || isTypeCast(def)))
          blocked = def;
        producers.push_back(def);
        return true;
      });
  llvm::sort(producers,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return blocked;
}

/// Moves `write` behind the last write of `group`. Returns the operation in the
/// way, or null if it was moved.
static Operation *moveUp(Group &group, WriteOp write) {
  SmallVector<Operation *> producers;
  if (Operation *blocked = collectProducers(group, write, producers))
    return blocked;
  for (Value dest : write.getDests())
    if (Operation *user = findUseOnTheWay(dest, group, write))
      return user;
  Operation *first = group.first(), *last = group.last();
  for (Operation *producer : producers)
    producer->moveBefore(first);
  for (Operation *op : llvm::reverse(getWithSlices(write)))
    op->moveAfter(last);
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
        Aliases old(dest, between);
        if (llvm::any_of(group.members,
                         [&](WriteOp member) { return old.areReadBy(member); }))
          found = between;
      }
    });
  return found;
}

/// Moves all of `group` in front of `write`. Returns the operation in the way,
/// or null if they were moved.
static Operation *moveDown(Group &group, WriteOp write) {
  SmallVector<Operation *> unit = getWithSlices(write), moved, casts;
  for (WriteOp member : group.members)
    llvm::append_range(moved, getWithSlices(member));
  SmallVector<Value> results;
  for (Operation *op : moved)
    llvm::append_range(results, op->getResults());
  while (!results.empty())
    for (Operation *user : results.pop_back_val().getUsers()) {
      if (!isBetween(user, moved.back(), unit.front()))
        continue;
      if (!isTypeCast(user))
        return user;
      casts.push_back(user);
      llvm::append_range(results, user->getResults());
    }
  // The write itself may go on from the group's version of a pool, no more.
  for (Operation *cast : casts)
    for (Operation *user : cast->getUsers())
      if (llvm::is_contained(unit, user))
        return write;
  if (Operation *other = findWriteOnTheWay(group, write))
    return other;
  for (Operation *op : moved)
    op->moveBefore(unit.front());
  // Type casts of the results follow them, behind the whole group.
  for (Operation *cast : llvm::reverse(casts))
    cast->moveAfter(unit.back());
  return nullptr;
}

/// Slices of the pools that `write` has moved up in, used behind it, become
/// slices of the versions that it leaves.
static void readNewestVersions(WriteOp write) {
  DominanceInfo dominance;
  for (Operation *op : getWithSlices(write))
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      readNewestVersion(insert, dominance);
}

/// Do nothing but computations of values that do not need `previous` stand
/// between it and `write`? Then its other tokens are what keeps them apart.
static bool isNextTo(Group &previous, WriteOp write) {
  Operation *from = previous.last();
  for (Operation *op = getWithSlices(write).front()->getPrevNode(); op != from;
       op = op->getPrevNode())
    if (!op || !isPure(op) || isa<WriteOp, tensor::InsertSliceOp>(op))
      return false;
  return !dependsOn(previous, write);
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
  /// Makes `write` a neighbour of `group`. If it cannot be, emits a remark.
  static bool join(Group &group, WriteOp write) {
    if (!moveUp(group, write)) {
      readNewestVersions(write);
      return true;
    }
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
  static bool mayOverlap(Group &group, WriteOp write) {
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
    Group before(bases);
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
    DenseMap<Value, SmallVector<Group>> groupsOf;
    WriteOp previous;
    for (WriteOp write : writes) {
      SmallVector<Group> &groups = groupsOf[write.getIndices().front()];
      auto *group = llvm::find_if(groups, [&](Group &other) {
        return other.members.front().hasSameTokens(write);
      });
      bool joins = true;
      if (group == groups.end()) {
        group = &groups.emplace_back(bases);
      } else if (dependsOn(*group, write)) {
        *group = Group(bases);
      } else if (mayOverlap(*group, write) || !join(*group, write)) {
        *group = Group(bases);
        joins = false;
      }
      if (joins && group->members.empty() && previous)
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
