//===- WriteGroup.cpp - Writes that one launch may do ---------------------===//
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

#include "WriteGroup.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

void WriteGroup::add(WriteOp write) {
  members.push_back(write);
  for (auto [i, dest] : llvm::enumerate(write.getDests()))
    dests[bases->lookup(dest)].emplace_back(write, i);
  for (Operation *op : getWithSlices(write))
    ops.insert(op);
}

WriteOp WriteGroup::findOverlap(WriteOp write) const {
  for (auto [i, dest] : llvm::enumerate(write.getDests()))
    for (auto [member, j] : dests.lookup(bases->lookup(dest)))
      if (classifyRows(member, j, write, i) == Overlap::Yes)
        return member;
  return {};
}

/// Does `op` stand between `first` and `last` in their block?
static bool isBetween(Operation *op, Operation *first, Operation *last) {
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && first->isBeforeInBlock(ancestor) &&
         ancestor->isBeforeInBlock(last);
}

/// The first operation between `group` and `write` that uses the old contents
/// of destination `dest`, or null.
static Operation *findUseOnTheWay(Value dest, const WriteGroup &group,
                                  WriteOp write) {
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

bool kvfuse::dependsOn(const WriteGroup &group, WriteOp write) {
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
static Operation *collectProducers(const WriteGroup &group, WriteOp write,
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

/// Slices of the pools that `write` has moved up in, used behind it, become
/// slices of the versions that it leaves.
static void readNewestVersions(WriteOp write) {
  DominanceInfo dominance;
  for (Operation *op : getWithSlices(write))
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      readNewestVersion(insert, dominance);
}

Operation *kvfuse::moveUp(const WriteGroup &group, WriteOp write) {
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
  readNewestVersions(write);
  return nullptr;
}

/// The first write between `group` and `write` into a cache that the group
/// reads, or null.
static Operation *findWriteOnTheWay(const WriteGroup &group, WriteOp write) {
  Operation *found = nullptr;
  for (Operation *op = group.last()->getNextNode(); op != write && !found;
       op = op->getNextNode())
    op->walk([&](WriteOp between) {
      for (Value dest : between.getDests()) {
        Aliases old(dest, between);
        if (llvm::any_of(group.getMembers(),
                         [&](WriteOp member) { return old.areReadBy(member); }))
          found = between;
      }
    });
  return found;
}

Operation *kvfuse::moveDown(const WriteGroup &group, WriteOp write) {
  SmallVector<Operation *> unit = getWithSlices(write), moved, casts;
  for (WriteOp member : group.getMembers())
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

bool kvfuse::isNextTo(const WriteGroup &previous, WriteOp write) {
  Operation *from = previous.last();
  for (Operation *op = getWithSlices(write).front()->getPrevNode(); op != from;
       op = op->getPrevNode())
    if (!op || !isPure(op) || isa<WriteOp, tensor::InsertSliceOp>(op))
      return false;
  return !dependsOn(previous, write);
}
