//===- CheckInPlace.cpp - No cache was copied -----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVCHECKINPLACE
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;

/// The buffer that `memref` is a view of.
static Value getBase(Value memref) {
  return memref::skipViewLikeOps(cast<MemrefValue>(memref));
}

/// SM5: what `write` writes is an argument, or an error.
static LogicalResult checkDestinations(WriteOp write,
                                       llvm::SmallDenseSet<Value> &caches) {
  for (Value dest : write.getDests()) {
    Value base = getBase(dest);
    if (!isa<BlockArgument>(base)) {
      InFlightDiagnostic diag =
          write.emitError("SM5: the cache was copied before it was written");
      diag.attachNote(base.getLoc()) << "the copy is made here";
      return diag;
    }
    caches.insert(base);
  }
  return success();
}

namespace {
struct KVCheckInPlacePass
    : kvfuse::impl::KVCheckInPlaceBase<KVCheckInPlacePass> {
  void runOnOperation() override {
    if (failed(dropReturnedArguments()))
      return signalPassFailure();
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(check(func)))
        return signalPassFailure();
  }

private:
  /// Upstream leaves public functions alone, so they are private meanwhile.
  LogicalResult dropReturnedArguments() {
    SmallVector<func::FuncOp> publicFuncs;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic())
        publicFuncs.push_back(func);
    for (func::FuncOp func : publicFuncs)
      func.setPrivate();
    LogicalResult result =
        bufferization::dropEquivalentBufferResults(getOperation());
    for (func::FuncOp func : publicFuncs)
      func.setPublic();
    return result;
  }

  LogicalResult check(func::FuncOp func) {
    llvm::SmallDenseSet<Value> caches;
    WalkResult walk = func.walk([&](WriteOp write) {
      return failed(checkDestinations(write, caches)) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    walk = func.walk([&](memref::CopyOp copy) {
      if (!caches.contains(getBase(copy.getSource())))
        return WalkResult::advance();
      copy.emitError("SM5: a cache is copied");
      return WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }
};
} // namespace
