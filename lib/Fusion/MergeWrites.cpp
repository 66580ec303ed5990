//===- MergeWrites.cpp - Neighbouring writes on buffers into one ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "WriteRun.h"
#include "kvfuse/Dialect/KV/Analysis/DistinctBuffers.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

namespace kvfuse {
#define GEN_PASS_DEF_KVMERGEWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// How many runs are open at a time, and how many closed ones are remembered:
/// layers may take turns between a few slot vectors. Bounds, so that the time
/// stays linear.
static constexpr unsigned kMaxRuns = 4;

//===----------------------------------------------------------------------===//
// Runs of a block
//===----------------------------------------------------------------------===//

/// Do steps along two dimensions meet: are `outer` and `inner` strides of which
/// a common multiple lies inside both sizes? Unknown sizes are large ones, but
/// not for steps of the inner dimension.
static bool doStepsMeet(int64_t outer, int64_t outerSize, int64_t inner,
                        int64_t innerSize) {
  int64_t divisor = std::gcd(outer, inner);
  return (ShapedType::isDynamic(outerSize) ||
          std::abs(inner) / divisor < outerSize) &&
         !ShapedType::isDynamic(innerSize) &&
         std::abs(outer) / divisor < innerSize;
}

/// Does a memref of `type` have elements that lie in one place, as far as
/// strides are static?
static bool hasRepeatedElements(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  ArrayRef<int64_t> shape = type.getShape();
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1 || ShapedType::isDynamic(strides[dim]))
      continue;
    if (strides[dim] == 0)
      return true;
    for (unsigned other = 0; other < dim; ++other)
      if (strides[other] != 0 && !ShapedType::isDynamic(strides[other]) &&
          (doStepsMeet(strides[other], shape[other], strides[dim],
                       shape[dim]) ||
           doStepsMeet(strides[dim], shape[dim], strides[other], shape[other])))
        return true;
  }
  return false;
}

/// May `write` be merged with others at all? If not, says why.
static bool isMember(WriteOp write) {
  if (write.hasTensorForm() || isRefused(write))
    return false;
  for (Value dest : write.getDests()) {
    if (!hasRepeatedElements(cast<MemRefType>(dest.getType())))
      continue;
    emitRefusal(write, Refusal::Overlap,
                "elements of the cache lie in one place: " +
                    getLayoutText(dest),
                "write into the cache before it is expanded", dest.getLoc());
    return false;
  }
  return true;
}

namespace {
/// Collects the runs of a block, whose operations are added from first to last.
class RunCollector {
public:
  RunCollector(AliasAnalysis &aliases, bool onlyProven)
      : aliases(aliases), onlyProven(onlyProven) {}

  void add(Operation &op) {
    auto write = dyn_cast<WriteOp>(op);
    if (write && !isMember(write))
      write = WriteOp();
    WriteRun *joined = write ? findRun(write) : nullptr;
    for (unsigned i = open.size(); i-- > 0;)
      if (&open[i] != joined && !open[i].commutesWith(&op, aliases)) {
        remember(open[i].getFirst(), &op);
        close(i);
      }
    if (write)
      join(write);
  }

  /// The runs of the block, which ends here.
  SmallVector<WriteRun> take() {
    llvm::append_range(closed, open);
    return std::move(closed);
  }

private:
  WriteRun *findRun(WriteOp write) {
    return llvm::find_if(open, [&](const WriteRun &run) {
      return WriteOp(run.getFirst()).hasSameTokens(write);
    });
  }

  void join(WriteOp write) {
    WriteRun *run = findRun(write);
    if (run == open.end()) {
      emitOrder(write);
    } else if (run->hasRoomFor(write) &&
               run->tryAdd(write, aliases, onlyProven)) {
      return;
    } else {
      close(run - open.begin());
    }
    if (open.size() == kMaxRuns)
      close(0);
    open.emplace_back(write, aliases);
  }

  void close(unsigned i) {
    closed.push_back(std::move(open[i]));
    open.erase(open.begin() + i);
  }

  /// `blocker` closed the run that starts with `first`.
  void remember(WriteOp first, Operation *blocker) {
    if (blocked.size() == kMaxRuns)
      blocked.erase(blocked.begin());
    blocked.emplace_back(first, blocker);
  }

  /// Says what stands between `write` and an earlier run, if something does.
  void emitOrder(WriteOp write) {
    auto *it = llvm::find_if(blocked, [&](const auto &entry) {
      return WriteOp(entry.first).hasSameTokens(write);
    });
    if (it == blocked.end())
      return;
    emitRefusal(write, Refusal::Order,
                "an operation between this write and an earlier one for the "
                "same tokens uses what the earlier one writes, or changes what "
                "it reads",
                "move that operation before the earlier write or behind this "
                "one",
                it->second->getLoc());
    blocked.erase(it);
  }

  AliasAnalysis &aliases;
  bool onlyProven;
  SmallVector<WriteRun, 0> open, closed;
  SmallVector<std::pair<WriteOp, Operation *>> blocked;
};

struct KVMergeWritesPass : kvfuse::impl::KVMergeWritesBase<KVMergeWritesPass> {
  using KVMergeWritesBase::KVMergeWritesBase;

  void runOnOperation() override {
    auto &aliases = getAnalysis<AliasAnalysis>();
    aliases.addAnalysisImplementation(DistinctBuffers());
    getOperation()->walk([&](Block *block) {
      RunCollector collector(aliases, onlyProven);
      for (Operation &op : *block)
        collector.add(op);
      for (const WriteRun &run : collector.take())
        run.merge();
    });
  }
};
} // namespace
