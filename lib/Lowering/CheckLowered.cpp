//===- CheckLowered.cpp - Is anything left that does not translate? -------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVCHECKLOWERED
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;

/// Is `memref` memory of the host: a global beside the kernels?
static bool isOnHost(MemrefValue memref) {
  return memref::skipViewLikeOps(memref).getDefiningOp<memref::GetGlobalOp>() !=
         nullptr;
}

namespace {
struct KVCheckLoweredPass
    : public kvfuse::impl::KVCheckLoweredBase<KVCheckLoweredPass> {
  using KVCheckLoweredBase::KVCheckLoweredBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { return host ? checkHost(op) : checkDialect(op); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  WalkResult checkDialect(Operation *op) {
    // Of builtin operations, a cast between types is what a conversion leaves
    // where it stopped.
    if (op == getOperation() || isa<ModuleOp>(op) ||
        llvm::is_contained(allow, op->getName().getDialectNamespace()))
      return WalkResult::advance();
    op->emitOpError("was left behind by lowering");
    return WalkResult::interrupt();
  }

  static WalkResult checkHost(Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto accesses = [](const MemoryEffects::EffectInstance &effect) {
      auto memref = dyn_cast_or_null<MemrefValue>(effect.getValue());
      return isa<MemoryEffects::Read, MemoryEffects::Write>(
                 effect.getEffect()) &&
             memref && !isOnHost(memref);
    };
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (interface)
      interface.getEffects(effects);
    if (llvm::none_of(effects, accesses))
      return WalkResult::advance();
    op->emitOpError("accesses memory of the device on the host");
    return WalkResult::interrupt();
  }
};
} // namespace
