//===- MergeWrites.cpp - Neighbouring writes on buffers into one ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVMERGEWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// Is it known which memory `base` is: an argument of a function (SM8), or
/// memory of its own?
static bool isIdentified(Value base) {
  if (auto argument = dyn_cast<BlockArgument>(base))
    return argument.getOwner()->isEntryBlock() &&
           isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return hasEffect<MemoryEffects::Allocate>(base.getDefiningOp(), base) ||
         isa<memref::GetGlobalOp>(base.getDefiningOp());
}

/// May `lhs` and `rhs` be views of one buffer?
static bool mayOverlap(Value lhs, Value rhs) {
  lhs = getBufferBase(lhs);
  rhs = getBufferBase(rhs);
  return lhs == rhs || !isIdentified(lhs) || !isIdentified(rhs);
}

/// May `write` be merged with `run`? If not, says which rule that would break.
static bool areDisjoint(ArrayRef<WriteOp> run, WriteOp write) {
  auto overlap = [](ValueRange lhs, ValueRange rhs) {
    return llvm::any_of(lhs, [&](Value value) {
      return llvm::any_of(
          rhs, [&](Value other) { return mayOverlap(value, other); });
    });
  };
  for (WriteOp member : run) {
    if (overlap(member.getDests(), write.getDests())) {
      emitRefusal(write, Refusal::DestAlias,
                  "two destinations may be views of one buffer",
                  "pass caches that do not overlap as arguments of their own",
                  member.getLoc());
      return false;
    }
    if (overlap(member.getDests(), write->getOperands()) ||
        overlap(member->getOperands(), write.getDests())) {
      emitRefusal(write, Refusal::AliasValue,
                  "what one write reads may be a view of what the other writes",
                  "copy the values before they are written", member.getLoc());
      return false;
    }
  }
  return true;
}

/// Bytes of kernel parameters that the operands of `write` take: two pointers,
/// an offset, sizes and strides each.
static unsigned getParameterBytes(WriteOp write) {
  unsigned bytes = 0;
  for (Type type : write->getOperandTypes())
    bytes += 8 * (3 + 2 * cast<MemRefType>(type).getRank());
  return bytes;
}

/// What a kernel can take on every target.
static constexpr unsigned kMaxParameterBytes = 4096;

/// w1; ...; wn -> one write with all their destinations, at the last one's
/// place: they read the same tokens and write disjoint bytes.
static void merge(ArrayRef<WriteOp> run) {
  if (run.size() < 2)
    return;
  WriteOp first = run.front();
  OpBuilder builder(run.back());
  SmallVector<Value> dests, values;
  SmallVector<AffineMap> maps, orders;
  SmallVector<bool> boxes;
  SmallVector<Location> locs;
  for (WriteOp write : run) {
    llvm::append_range(dests, write.getDests());
    llvm::append_range(values, write.getValues());
    llvm::append_range(boxes, write.getBoxes());
    for (unsigned i = 0; i < write.getNumDests(); ++i) {
      maps.push_back(write.getMap(i));
      orders.push_back(write.getOrder(i));
    }
    locs.push_back(write.getLoc());
  }
  auto merged =
      WriteOp::create(builder, builder.getFusedLoc(locs), first.getIndices(),
                      first.getMask(), dests, values, maps, orders, boxes,
                      first.getNegative(), first.getOutOfBounds());
  merged.getWhere().takeBody(first.getWhere());
  unsigned next = 0;
  for (WriteOp write : run) {
    for (Region &body : write.getBodies())
      merged.getBodies()[next++].takeBody(body);
    write.erase();
  }
}

namespace {
struct KVMergeWritesPass : kvfuse::impl::KVMergeWritesBase<KVMergeWritesPass> {
  void runOnOperation() override {
    SmallVector<SmallVector<WriteOp>> runs;
    getOperation()->walk([&](Block *block) { collectRuns(*block, runs); });
    for (ArrayRef<WriteOp> run : runs)
      merge(run);
  }

private:
  /// Collects the runs of writes of `block` that may be merged.
  static void collectRuns(Block &block,
                          SmallVectorImpl<SmallVector<WriteOp>> &runs) {
    SmallVector<WriteOp> run;
    unsigned parameterBytes = 0;
    auto endRun = [&] {
      if (run.size() > 1)
        runs.push_back(run);
      run.clear();
      parameterBytes = 0;
    };
    for (Operation &op : block) {
      auto write = dyn_cast<WriteOp>(op);
      bool mergeable = write && !write.hasTensorForm() && !isRefused(write);
      if (!mergeable) {
        if (!isMemoryEffectFree(&op))
          endRun();
        continue;
      }
      unsigned bytes = getParameterBytes(write);
      bool joins = !run.empty() &&
                   parameterBytes + bytes <= kMaxParameterBytes &&
                   run.front().hasSameTokens(write) && areDisjoint(run, write);
      if (!joins)
        endRun();
      run.push_back(write);
      parameterBytes += bytes;
    }
    endRun();
  }
};
} // namespace
