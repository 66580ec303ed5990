//===- WrittenArguments.cpp - Which arguments are written? ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Layout/WrittenArguments.h"

#include "kvfuse/Dialect/KV/Analysis/DistinctBuffers.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// The buffers that `func` writes.
static SmallVector<Value> collectWritten(func::FuncOp func,
                                         WrittenArguments &written) {
  SmallVector<Value> dests;
  func.walk([&](WriteOp write) {
    if (!write.hasTensorForm())
      llvm::append_range(dests, write.getDests());
  });
  func.walk([&](func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return;
    for (unsigned i : written.lookup(callee).set_bits())
      dests.push_back(call.getOperand(i));
  });
  return dests;
}

llvm::BitVector WrittenArguments::compute(func::FuncOp func) {
  llvm::BitVector isWritten(func.getNumArguments());
  AliasAnalysis aliases(func);
  aliases.addAnalysisImplementation(DistinctBuffers());
  for (Value dest : collectWritten(func, *this)) {
    // Nearly every destination is a view of an argument.
    auto base = dyn_cast<BlockArgument>(
        memref::skipViewLikeOps(cast<MemrefValue>(dest)));
    if (base && base.getOwner() == &func.front()) {
      isWritten.set(base.getArgNumber());
      continue;
    }
    for (BlockArgument argument : func.getArguments())
      if (isa<MemRefType>(argument.getType()) &&
          !aliases.alias(dest, argument).isNo())
        isWritten.set(argument.getArgNumber());
  }
  return isWritten;
}

llvm::BitVector WrittenArguments::lookup(func::FuncOp func) {
  auto [it, isNew] =
      known.try_emplace(func, llvm::BitVector(func.getNumArguments()));
  if (!isNew)
    return it->second;
  llvm::BitVector isWritten = compute(func);
  known[func] = isWritten;
  return isWritten;
}
