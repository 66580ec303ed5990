//===- InPlace.cpp - May a cache be written in place? ---------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InPlace.h"

#include "Slices.h"
#include "kvfuse/Dialect/KV/Analysis/Disjoint.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

bool kvfuse::isDeclaredMutated(FunctionOpInterface func, unsigned number) {
  if (auto writable = func.getArgAttrOfType<BoolAttr>(
          number, bufferization::BufferizationDialect::kWritableAttrName))
    return writable.getValue();
  return func.getArgAttr(number, "tf.aliasing_output") ||
         func.getArgAttr(number, "jax.buffer_donor");
}

/// The arguments of `func` that its writes reach, as a list for `--mutates`.
static std::string listCaches(FunctionOpInterface func, CacheBases &bases) {
  std::set<unsigned> numbers;
  func->walk([&](WriteOp write) {
    for (Value dest : write.getDests())
      if (BlockArgument argument = bases.getArgument(dest))
        numbers.insert(argument.getArgNumber());
  });
  return llvm::join(
      llvm::map_range(numbers, [](unsigned n) { return llvm::utostr(n); }),
      ",");
}

/// Is the cache of `dest` an argument that may be written?
static bool checkDeclared(WriteOp write, Value dest, CacheBases &bases) {
  BlockArgument argument = bases.getArgument(dest);
  if (!argument) {
    emitRefusal(write, Refusal::CacheCopied,
                "the program writes a copy: the cache is not an argument",
                "pass the cache as an argument, and write to it",
                bases.lookup(dest).getLoc());
    return false;
  }
  auto func = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  if (isDeclaredMutated(func, number))
    return true;
  emitRefusal(write, Refusal::CacheCopied,
              "argument " + Twine(number) + " of '" + func.getName() +
                  "' is written, but not declared mutated",
              "declare the caches that may be written: --mutates=" +
                  listCaches(func, bases) +
                  ", or --mutates=auto for all of them");
  return false;
}

/// Is destination `i` of `write` dead but for the write and the insertion that
/// puts its result back? A slice that is read later would do no harm if it were
/// disjoint, but bufferization would copy the pool for it.
static bool checkOldContents(WriteOp write, unsigned i, const Aliases &old) {
  auto refuse = [&](const Twine &found, Location cause) {
    emitRefusal(write, Refusal::OldCacheLive, found,
                "use the cache that the write returns, or read before it",
                cause);
    return false;
  };
  tensor::ExtractSliceOp slice = getSlice(write, i);
  for (Value value : old.getValues())
    for (Operation *user : value.getUsers()) {
      if (isNoAccess(user))
        continue;
      // What is defined outside of a loop is what it was, in every round.
      if (Operation *loop = getLoopAround(user, write, value))
        return refuse("the contents before this write are used again in the "
                      "next round of '" +
                          loop->getName().getStringRef() + "'",
                      loop->getLoc());
      if (user == write || !mayRunAfter(user, write))
        continue;
      auto insert = dyn_cast<tensor::InsertSliceOp>(user);
      if (insert && slice && getWrittenSlice(insert) == slice)
        continue;
      return refuse("the contents before this write are used after it, by '" +
                        user->getName().getStringRef() + "'",
                    user->getLoc());
    }
  return true;
}

/// SM3: the write reads what may be part of the cache that is its destination,
/// `base`. It reads a copy instead, by itself. Fails if that would be a copy of
/// the whole cache.
static LogicalResult readCopies(WriteOp write, const Aliases &old, Value base) {
  // Slices stay next to their write.
  Operation *first = getWithSlices(write).front();
  OpBuilder builder(first);
  for (OpOperand *input : write.getDpsInputOperands()) {
    if (!old.contains(input->get()))
      continue;
    auto type = cast<RankedTensorType>(input->get().getType());
    if (type == base.getType())
      return failure();
    Operation *def = input->get().getDefiningOp();
    if (def && def->getBlock() == first->getBlock() &&
        first->isBeforeInBlock(def))
      builder.setInsertionPoint(write);
    input->set(bufferization::AllocTensorOp::create(
        builder, write.getLoc(), type, /*dynamicSizes=*/{}, input->get()));
  }
  write->setAttr(kRefusedAttr,
                 builder.getStringAttr(stringifyRefusal(Refusal::AliasValue)));
  return success();
}

/// Is nothing that the write reads, or writes besides, part of the cache that
/// is its destination `i`?
static bool checkDisjoint(WriteOp write, unsigned i, const Aliases &old,
                          CacheBases &bases) {
  Value base = bases.lookup(write.getDests()[i]);
  if (old.areReadBy(write)) {
    emitRefusal(write, Refusal::AliasValue,
                "what the write reads may share memory with the cache",
                "copy the values before they are written", base.getLoc());
    if (failed(readCopies(write, old, base)))
      return false;
  }
  for (auto [j, other] : llvm::enumerate(write.getDests()))
    if (j != i && (old.contains(other) || bases.lookup(other) == base)) {
      emitRefusal(write, Refusal::DestAlias,
                  "destinations " + Twine(i) + " and " + Twine(j) +
                      " may share memory",
                  "pass caches that do not overlap as arguments of their own");
      return false;
    }
  return true;
}

const Aliases &OldContents::get(WriteOp write, unsigned i) {
  std::unique_ptr<Aliases> &known = aliases[write.getResults()[i]];
  if (!known)
    known = std::make_unique<Aliases>(write.getDests()[i], write);
  return *known;
}

bool kvfuse::mayWriteInPlace(WriteOp write, CacheBases &bases,
                             OldContents &oldContents) {
  for (auto [i, dest] : llvm::enumerate(write.getDests())) {
    if (!checkDeclared(write, dest, bases))
      return false;
    const Aliases &old = oldContents.get(write, i);
    if (!checkDisjoint(write, i, old, bases) ||
        !checkOldContents(write, i, old))
      return false;
  }
  return true;
}

Overlap kvfuse::classifyRows(WriteOp lhs, unsigned i, WriteOp rhs, unsigned j) {
  tensor::ExtractSliceOp one = getSlice(lhs, i), other = getSlice(rhs, j);
  bool areSlices = one && other;
  if ((areSlices && areDisjointSlices(one, other)) ||
      areRowsDisjoint(lhs, i, rhs, j, stripTypeCasts))
    return Overlap::No;
  return areSlices && isOverlapDynamic(one, other) ? Overlap::Maybe
                                                   : Overlap::Yes;
}

bool Run::mayAdd(WriteOp write) {
  for (auto [i, dest] : llvm::enumerate(write.getDests()))
    for (auto [member, j] : dests.lookup(bases->lookup(dest)))
      if (classifyRows(member, j, write, i) == Overlap::Yes)
        return false;
  auto refuse = [&](WriteOp member) {
    emitRefusal(write, Refusal::AliasValue,
                "what one write reads may share memory with what its "
                "neighbour writes",
                "copy the values before they are written", member.getLoc());
    return false;
  };
  for (Value input : write.getDpsInputs())
    if (WriteOp member = written.lookup(input))
      return refuse(member);
  for (unsigned i = 0; i < write.getNumDests(); ++i)
    for (Value value : oldContents->get(write, i).getValues())
      if (WriteOp member = read.lookup(value))
        return refuse(member);
  return true;
}

void Run::add(WriteOp write) {
  writes.push_back(write);
  for (auto [i, dest] : llvm::enumerate(write.getDests())) {
    dests[bases->lookup(dest)].emplace_back(write, i);
    for (Value value : oldContents->get(write, i).getValues())
      written.try_emplace(value, write);
  }
  for (Value input : write.getDpsInputs())
    read.try_emplace(input, write);
}
