//===- InPlace.cpp - May a cache be written in place? ---------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InPlace.h"

#include "Caches.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
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
static std::string listCaches(FunctionOpInterface func) {
  // The first write of each cache is enough.
  std::set<unsigned> numbers;
  func->walk([&](WriteOp write) {
    for (Value dest : write.getDests()) {
      auto argument = dyn_cast<BlockArgument>(stripTypeCasts(dest));
      if (argument && argument.getOwner()->getParentOp() == func &&
          argument.getOwner()->isEntryBlock())
        numbers.insert(argument.getArgNumber());
    }
  });
  return llvm::join(
      llvm::map_range(numbers, [](unsigned n) { return llvm::utostr(n); }),
      ",");
}

/// Is the cache of `dest` an argument that may be written?
static bool checkDeclared(WriteOp write, Value dest) {
  BlockArgument argument = getCacheArgument(dest);
  if (!argument) {
    emitRefusal(write, Refusal::CacheCopied,
                "the program writes a copy: the cache is not an argument",
                "pass the cache as an argument, and write to it",
                getCacheBase(dest).getLoc());
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
                  listCaches(func) + ", or --mutates=auto for all of them");
  return false;
}

/// The operation around `write`, inside its function, whose region may run more
/// than once, or null.
static Operation *getLoopAround(WriteOp write) {
  for (Region *region = write->getParentRegion();;
       region = region->getParentRegion()) {
    Operation *op = region->getParentOp();
    if (isa<FunctionOpInterface>(op))
      return nullptr;
    auto branch = dyn_cast<RegionBranchOpInterface>(op);
    if (!branch || branch.isRepetitiveRegion(region->getRegionNumber()))
      return op;
  }
}

/// Are the contents of `dest` before the write of no later use?
static bool checkOldContents(WriteOp write, const llvm::SetVector<Value> &old) {
  auto refuse = [&](const Twine &found, Location cause) {
    emitRefusal(write, Refusal::OldCacheLive, found,
                "use the cache that the write returns, or read before it",
                cause);
    return false;
  };
  // An argument is what it was before the loop, in every round.
  if (Operation *loop = getLoopAround(write))
    return refuse("the contents before this write are used again in the next "
                  "round of '" +
                      loop->getName().getStringRef() + "'",
                  loop->getLoc());
  for (Value alias : old)
    for (Operation *user : alias.getUsers())
      if (user != write && !isTypeCast(user) && mayRunAfter(user, write))
        return refuse("the contents before this write are used after it, by '" +
                          user->getName().getStringRef() + "'",
                      user->getLoc());
  return true;
}

/// Is nothing that the write reads, or writes besides, part of the cache that
/// is its destination `i`?
static bool checkDisjoint(WriteOp write, unsigned i,
                          const llvm::SetVector<Value> &old) {
  if (readsAny(write, old)) {
    emitRefusal(write, Refusal::AliasValue,
                "what the write reads may share memory with the cache",
                "copy the values before they are written",
                getCacheBase(write.getDests()[i]).getLoc());
    return false;
  }
  for (auto [j, other] : llvm::enumerate(write.getDests()))
    if (j != i && old.contains(other)) {
      emitRefusal(write, Refusal::DestAlias,
                  "destinations " + Twine(i) + " and " + Twine(j) +
                      " may share memory",
                  "pass caches that do not overlap as arguments of their own");
      return false;
    }
  return true;
}

bool kvfuse::mayWriteInPlace(WriteOp write) {
  for (auto [i, dest] : llvm::enumerate(write.getDests())) {
    if (!checkDeclared(write, dest))
      return false;
    llvm::SetVector<Value> old = getAliases(dest, write);
    if (!checkDisjoint(write, i, old) || !checkOldContents(write, old))
      return false;
  }
  return true;
}

bool kvfuse::mayJoin(ArrayRef<WriteOp> run, WriteOp write) {
  for (WriteOp member : run)
    for (auto [reader, writer] :
         {std::pair(member, write), std::pair(write, member)})
      for (Value dest : writer.getDests())
        if (readsAny(reader, getAliases(dest, writer))) {
          emitRefusal(write, Refusal::AliasValue,
                      "what one write reads may share memory with what its "
                      "neighbour writes",
                      "copy the values before they are written",
                      member.getLoc());
          return false;
        }
  return true;
}
