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
  std::set<unsigned> numbers;
  func->walk([&](WriteOp write) {
    for (Value dest : write.getDests())
      if (auto argument = dyn_cast<BlockArgument>(getCacheBase(dest)))
        numbers.insert(argument.getArgNumber());
  });
  return llvm::join(
      llvm::map_range(numbers, [](unsigned n) { return llvm::utostr(n); }),
      ",");
}

/// Is the cache of `dest` an argument that may be written?
static bool checkDeclared(WriteOp write, Value dest) {
  Value base = getCacheBase(dest);
  auto argument = dyn_cast<BlockArgument>(base);
  auto func =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (!func) {
    emitRefusal(write, Refusal::CacheCopied,
                "the program writes a copy: the cache is not an argument",
                "pass the cache as an argument, and write to it",
                base.getLoc());
    return false;
  }
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

/// Are the old contents of `dest` of no later use, and no part of the values?
static bool checkOldContents(WriteOp write, Value dest) {
  for (Value alias : getAliases(dest, write)) {
    for (Operation *user : alias.getUsers()) {
      if (user == write || isTypeCast(user) || mayComeBefore(user, write))
        continue;
      emitRefusal(write, Refusal::OldCacheLive,
                  "the contents before this write are used after it, by '" +
                      user->getName().getStringRef() + "'",
                  "use the cache that the write returns, or read before it",
                  user->getLoc());
      return false;
    }
    if (llvm::is_contained(write.getValues(), alias)) {
      emitRefusal(write, Refusal::AliasValue,
                  "values of the write may share memory with the cache",
                  "copy the values before they are written", alias.getLoc());
      return false;
    }
  }
  return true;
}

bool kvfuse::mayWriteInPlace(WriteOp write) {
  return llvm::all_of(write.getDests(), [&](Value dest) {
    return checkDeclared(write, dest) && checkOldContents(write, dest);
  });
}
