//===- DistinctBuffers.cpp - Aliases under the rules of kv ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Analysis/DistinctBuffers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::kv;

static bool isFunctionArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->isEntryBlock() &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

AliasResult DistinctBuffers::aliasImpl(Value lhs, Value rhs) {
  if (lhs != rhs && isFunctionArgument(lhs) && isFunctionArgument(rhs))
    return AliasResult::NoAlias;
  auto global = lhs.getDefiningOp<memref::GetGlobalOp>();
  auto otherGlobal = rhs.getDefiningOp<memref::GetGlobalOp>();
  if (global && otherGlobal && global.getName() != otherGlobal.getName())
    return AliasResult::NoAlias;
  return LocalAliasAnalysis::aliasImpl(lhs, rhs);
}
