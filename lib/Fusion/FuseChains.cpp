//===- FuseChains.cpp - Compose the chain into the write ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "ChainFuser.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVFUSECHAINS
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// What was found in the way, and what to change, by reason.
static std::pair<std::string, StringRef> describe(const Fault &fault) {
  std::string name = fault.cause->getName().getStringRef().str();
  switch (fault.reason) {
  case Refusal::MixedDivision:
    return {"index computed by " + name +
                ", which does not round down, from values that may be negative",
            "divide with rounding down, or promise that no index is negative "
            "(negative=undefined)"};
  case Refusal::IndexOverflow:
    return {"index computed by " + name +
                " in fewer than 64 bits, which may not hold it",
            "widen the index to 64 bits first"};
  case Refusal::ElementScatter:
    return {"each index value puts one element, and the next one goes "
            "elsewhere",
            "write rows that lie together in the cache"};
  case Refusal::CastMode:
    return {"values rounded by " + name + " otherwise than to nearest even",
            "round to nearest even"};
  case Refusal::ScaleRank:
    return {"values quantised by " + name +
                " with a scale that differs from head to head",
            "quantise with a scale of one element"};
  default:
    llvm_unreachable("not a reason of this pass");
  }
}

static void refuse(WriteOp write, const Fault &fault) {
  auto [found, suggestion] = describe(fault);
  emitRefusal(write, fault.reason, found, suggestion, fault.cause->getLoc());
  write->setAttr(kRefusedAttr, StringAttr::get(write.getContext(),
                                               stringifyRefusal(fault.reason)));
}

namespace {
struct KVFuseChainsPass : kvfuse::impl::KVFuseChainsBase<KVFuseChainsPass> {
  using KVFuseChainsBase::KVFuseChainsBase;

  void runOnOperation() override {
    IndexRanges ranges(getOperation());
    // Ranges are asked for while the program is as it was.
    std::vector<ChainFuser> fusers;
    WalkResult result = getOperation()->walk([&](WriteOp write) {
      if (!write.hasTensorForm() || isRefused(write))
        return WalkResult::advance();
      ChainFuser fuser(write);
      std::optional<Fault> fault = fuser.analyze(ranges);
      if (!fault) {
        fusers.push_back(std::move(fuser));
        return WalkResult::advance();
      }
      refuse(write, *fault);
      if (!required)
        return WalkResult::advance();
      write.emitError("the write was not fused, and fusing is required");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    DenseMap<Value, Value> replaced;
    for (ChainFuser &fuser : fusers) {
      SmallVector<Value> results = fuser.getResults();
      WriteOp fused = fuser.rewrite(replaced);
      for (auto [before, now] : llvm::zip_equal(results, fused.getResults()))
        replaced[before] = now;
    }
  }
};
} // namespace
