//===- Aliases.cpp - What may share memory with a cache -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Caches.h"

#include "Slices.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

bool kvfuse::isNoAccess(Operation *op) {
  return isTypeCast(op) || isa<tensor::DimOp>(op);
}

/// Does `op` run before `until`, or is it not plain to see that it does not?
static bool mayRunBefore(Operation *op, Operation *until) {
  Operation *ancestor = until->getBlock()->findAncestorOpInBlock(*op);
  return !ancestor || ancestor->isBeforeInBlock(until);
}

/// Does `op` end a branch of an scf.if that has `other` in its other branch?
static bool excludes(Operation *op, Operation *other) {
  auto ifOp = dyn_cast<scf::IfOp>(op->getParentOp());
  return ifOp && ifOp->isProperAncestor(other) &&
         !op->getParentRegion()->findAncestorOpInRegion(*other);
}

Aliases::Aliases(Value version, Operation *until) : until(until) {
  addHolders(version);
  addUsers();
}

bool Aliases::isAccess(OpOperand &use) const {
  if (isNoAccess(use.getOwner()))
    return false;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
  tensor::ExtractSliceOp part = parts.lookup(use.get());
  return !slice || !part || !areDisjointSlices(part, slice);
}

bool Aliases::areReadBy(WriteOp write) const {
  return llvm::any_of(write.getDpsInputs(),
                      [&](Value input) { return contains(input); });
}

/// Numbers share no memory.
void Aliases::add(ValueRange added) {
  for (Value value : added)
    if (!value.getType().isIntOrIndexOrFloat())
      values.insert(value);
}

/// Does no use of `version`, the result of an insertion, concern the slice
/// `part`? So it is for nearly all versions of a pool, and they need not be
/// looked at again.
static bool isAllElsewhere(Value version, tensor::ExtractSliceOp part) {
  return part && llvm::all_of(version.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
             return use.get() != insert.getSource();
           if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
             return areDisjointSlices(part, slice);
           return isNoAccess(user) && !isTypeCast(user);
         });
}

/// Adds the values that hold the contents of `version`, backwards to the
/// argument.
void Aliases::addHolders(Value version) {
  SmallVector<std::pair<Value, tensor::ExtractSliceOp>> worklist = {
      {version, {}}};
  while (!worklist.empty()) {
    auto [holder, part] = worklist.pop_back_val();
    holder = stripTypeCasts(holder);
    if (!holder.getDefiningOp<tensor::InsertSliceOp>() ||
        !isAllElsewhere(holder, part)) {
      if (!values.insert(holder))
        continue;
      parts[holder] = part;
    }
    if (auto argument = dyn_cast<BlockArgument>(holder)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument == loop.getInductionVar())
        continue;
      worklist.push_back({loop.getTiedLoopInit(argument)->get(), part});
      addReturning(loop, *loop.getTiedLoopYieldedValue(argument));
      continue;
    }
    Operation *def = holder.getDefiningOp();
    unsigned number = cast<OpResult>(holder).getResultNumber();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
      worklist.push_back({slice.getSource(), slice});
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(def)) {
      // Older versions of what the insertion has replaced are dead already, or
      // the write of it was refused.
      bool isElsewhere = part && areDisjointSlices(part, insert);
      if (!isElsewhere)
        worklist.push_back({insert.getSource(), {}});
      if (isElsewhere || !part || !isSameSlice(part, insert))
        worklist.push_back({insert.getDest(), part});
    } else if (isa<scf::ForOp, scf::IfOp>(def)) {
      for (Region &region : def->getRegions())
        worklist.push_back(
            {region.front().getTerminator()->getOperand(number), part});
    }
  }
}

/// Adds the iteration arguments of `loop` in which the version that a round
/// hands on, or a part of it, returns besides its own.
void Aliases::addReturning(scf::ForOp loop, OpOperand &yielded) {
  if (loop.getNumRegionIterArgs() == 1)
    return;
  Aliases handedOn(yielded.getOwner());
  Value argument = loop.getRegionIterArg(yielded.getOperandNumber());
  handedOn.values.insert(argument);
  handedOn.addHolders(yielded.get());
  handedOn.values.remove(argument);
  handedOn.addUsers();
  for (OpOperand &other : yielded.getOwner()->getOpOperands())
    if (&other != &yielded && handedOn.contains(other.get()))
      add(loop.getRegionIterArg(other.getOperandNumber()));
}

/// Adds what the users of the values, and their users, make of them.
void Aliases::addUsers() {
  // By number: the values grow meanwhile.
  for (unsigned i = 0; i < values.size(); ++i) // NOLINT(modernize-loop-convert)
    for (OpOperand &use : values[i].getUses())
      if (isTypeCast(use.getOwner()) || mayRunBefore(use.getOwner(), until))
        addResultsOf(use);
}

/// Adds the values that the user of an alias may hand on: results, arguments of
/// its regions and of the blocks it branches to, and, where it ends a region,
/// results of the operation around it.
void Aliases::addResultsOf(OpOperand &use) {
  Operation *user = use.getOwner();
  // Elementwise operations compute new tensors.
  if (isa<WriteOp, bufferization::AllocTensorOp, tensor::DimOp>(user) ||
      OpTrait::hasElementwiseMappableTraits(user) ||
      user->hasAttr(kNewResultsAttr))
    return;
  if (isa<tensor::ExtractSliceOp>(user) && !isAccess(use))
    return;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user);
      insert && use.get() != insert.getSource())
    return;
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    add(loop.getTiedLoopRegionIterArg(&use));
    // Seen from inside, the loop has run, and returns what a round hands on.
    if (!loop->isProperAncestor(until))
      add(loop.getTiedLoopResult(&use));
    return;
  }
  Operation *parent = user->getParentOp();
  if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(parent)) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      add(loop.getRegionIterArg(use.getOperandNumber()));
    if (!excludes(user, until))
      add(parent->getResult(use.getOperandNumber()));
    return;
  }
  add(user->getResults());
  for (Region &region : user->getRegions())
    add(region.getArguments());
  for (Block *successor : user->getSuccessors())
    add(successor->getArguments());
  if (user->hasTrait<OpTrait::IsTerminator>() &&
      !isa<FunctionOpInterface>(parent)) {
    add(parent->getResults());
    for (Region &region : parent->getRegions())
      add(region.getArguments());
  }
}
