//===- CheckInPlace.cpp - No cache was copied -----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVCHECKINPLACE
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// The argument of `func` that `memref` is a view of, or null.
static BlockArgument getArgument(func::FuncOp func, Value memref) {
  auto argument = dyn_cast<BlockArgument>(getBufferBase(memref));
  return argument && argument.getOwner() == &func.front() ? argument
                                                          : BlockArgument();
}

/// Is `memref` read by a write that was refused (`alias-value`), and so got a
/// copy of what may be part of the cache?
static bool isReadByRefusedWrite(Value memref) {
  return llvm::any_of(memref.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto write = dyn_cast<WriteOp>(user))
      return isRefused(write) && write.isDpsInput(&use);
    if (isa<memref::CastOp>(user))
      return isReadByRefusedWrite(user->getResult(0));
    auto call = dyn_cast<func::CallOp>(user);
    if (!call)
      return false;
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    return isReadByRefusedWrite(callee.getArgument(use.getOperandNumber()));
  });
}

namespace {
/// The arguments that functions write, calls included.
class WrittenArguments {
public:
  /// Fails with an error if `func` writes something else than an argument
  /// (SM5), or copies one that it writes.
  LogicalResult check(func::FuncOp func) {
    if (func.isExternal() || !checked.insert(func).second)
      return success();
    llvm::SmallDenseSet<Value> caches;
    WalkResult walk = func.walk(
        [&](Operation *op) { return WalkResult(addCaches(func, op, caches)); });
    if (walk.wasInterrupted())
      return failure();
    walk = func.walk([&](memref::CopyOp copy) {
      if (!caches.contains(getBufferBase(copy.getSource())) ||
          isReadByRefusedWrite(copy.getTarget()))
        return WalkResult::advance();
      copy.emitError("SM5: a cache is copied");
      return WalkResult::interrupt();
    });
    for (BlockArgument argument : func.getArguments())
      if (caches.contains(argument))
        written[func].push_back(argument.getArgNumber());
    return failure(walk.wasInterrupted());
  }

private:
  /// Adds what `op`, a write or a call, writes to `caches`.
  LogicalResult addCaches(func::FuncOp func, Operation *op,
                          llvm::SmallDenseSet<Value> &caches) {
    SmallVector<Value> dests;
    if (auto write = dyn_cast<WriteOp>(op)) {
      dests = write.getDests();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (failed(check(callee)))
        return failure();
      for (unsigned number : written.lookup(callee))
        dests.push_back(call.getOperand(number));
    }
    for (Value dest : dests) {
      BlockArgument argument = getArgument(func, dest);
      if (!argument) {
        InFlightDiagnostic diag =
            op->emitError("SM5: the cache was copied before it was written");
        diag.attachNote(getBufferBase(dest).getLoc())
            << "the copy is made here";
        return diag;
      }
      caches.insert(argument);
    }
    return success();
  }

  DenseMap<func::FuncOp, SmallVector<unsigned>> written;
  llvm::SmallDenseSet<func::FuncOp> checked;
};
} // namespace

namespace {
struct KVCheckInPlacePass
    : kvfuse::impl::KVCheckInPlaceBase<KVCheckInPlacePass> {
  void runOnOperation() override {
    // Once a call returns nothing, both branches of a conditional write yield
    // the argument, and so does the scf.if.
    if (failed(dropReturnedArguments()) || failed(foldBuffers()) ||
        failed(dropReturnedArguments()))
      return signalPassFailure();
    WrittenArguments written;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(written.check(func)))
        return signalPassFailure();
  }

private:
  /// Where every branch, or every round of a loop, hands on the argument that
  /// it got, that is the argument itself. A slice that is inserted where it was
  /// taken from is copied to itself: with equal subviews told to be one,
  /// upstream folds that. Sizes of the subviews may have to fold first.
  LogicalResult foldBuffers() {
    RewritePatternSet patterns(&getContext());
    memref::CopyOp::getCanonicalizationPatterns(patterns, &getContext());
    memref::SubViewOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::IfOp::getCanonicalizationPatterns(patterns, &getContext());
    FrozenRewritePatternSet frozen(std::move(patterns));
    DominanceInfo dominance(getOperation());
    IRRewriter rewriter(&getContext());
    for (unsigned round = 0; round < 2; ++round) {
      eliminateCommonSubExpressions(rewriter, dominance, getOperation());
      if (failed(applyPatternsGreedily(getOperation(), frozen)))
        return failure();
      dominance.invalidate();
    }
    return success();
  }

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
};
} // namespace
