//===- MergeWrites.cpp - Neighbouring writes on buffers into one ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "kvfuse/Dialect/KV/Analysis/Conflicts.h"
#include "kvfuse/Dialect/KV/Analysis/DistinctBuffers.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVMERGEWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// What a kernel can take on every target.
static constexpr unsigned kMaxParameterBytes = 4096;

/// How many runs are open at a time, and how many closed ones are remembered:
/// layers may take turns between a few slot vectors. Bounds, so that the time
/// stays linear.
static constexpr unsigned kMaxRuns = 4;

//===----------------------------------------------------------------------===//
// Which writes may be one
//===----------------------------------------------------------------------===//

namespace {
/// Writes of one block, for the same tokens, that may be done as one at the
/// place of the last.
class Run {
public:
  explicit Run(WriteOp first) { add(first); }

  WriteOp getFirst() const { return writes.front(); }
  void add(WriteOp write);

  /// May one kernel take the operands of `write`, too?
  bool hasRoomFor(WriteOp write) const;

  /// May `write` be done together with the run? If not, says which rule that
  /// would break.
  bool mayAdd(WriteOp write, AliasAnalysis &aliases) const;

  /// May the writes be done after `op` as well as before?
  bool commutesWith(Operation *op, AliasAnalysis &aliases) const;

  /// w1; ...; wn -> one write with all their destinations, at the last one's
  /// place: they read the same tokens and write disjoint bytes.
  void merge() const;

private:
  SmallVector<WriteOp> writes;
  llvm::SetVector<Value> dests, inputs;
};
} // namespace

void Run::add(WriteOp write) {
  writes.push_back(write);
  dests.insert_range(write.getDests());
  inputs.insert_range(write.getDpsInputs());
  getUsedValuesDefinedAbove(write->getRegions(), inputs);
}

/// Bytes of a kernel parameter; of a memref two pointers, an offset, sizes and
/// strides.
static unsigned getParameterBytes(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type ? 8 * (3 + 2 * type.getRank()) : 8;
}

bool Run::hasRoomFor(WriteOp write) const {
  llvm::SetVector<Value> parameters(dests);
  parameters.insert_range(inputs);
  parameters.insert_range(write->getOperands());
  getUsedValuesDefinedAbove(write->getRegions(), parameters);
  unsigned bytes = 0;
  for (Value value : parameters)
    bytes += getParameterBytes(value);
  return bytes <= kMaxParameterBytes;
}

/// May destinations of `lhs` and `rhs` have elements in common?
static bool mayOverlap(WriteOp lhs, WriteOp rhs, AliasAnalysis &aliases) {
  for (unsigned i = 0; i < lhs.getNumDests(); ++i)
    for (unsigned j = 0; j < rhs.getNumDests(); ++j)
      if (classifyDestinations(lhs, i, rhs, j, aliases) != Overlap::No)
        return true;
  return false;
}

/// May `reader` read what `writer` writes?
static bool mayRead(WriteOp reader, WriteOp writer, AliasAnalysis &aliases) {
  for (Value input : reader.getDpsInputs())
    for (unsigned i = 0; i < writer.getNumDests(); ++i)
      if (classifyInput(input, writer, i, aliases) != Overlap::No)
        return true;
  return false;
}

bool Run::mayAdd(WriteOp write, AliasAnalysis &aliases) const {
  for (WriteOp member : writes) {
    if (mayOverlap(member, write, aliases)) {
      emitRefusal(write, Refusal::DestAlias,
                  "two destinations may be views of one buffer",
                  "pass caches that do not overlap as arguments of their own",
                  member.getLoc());
      return false;
    }
    if (mayRead(write, member, aliases) || mayRead(member, write, aliases)) {
      emitRefusal(write, Refusal::AliasValue,
                  "what one write reads may be a view of what the other writes",
                  "copy the values before they are written", member.getLoc());
      return false;
    }
  }
  return true;
}

bool Run::commutesWith(Operation *op, AliasAnalysis &aliases) const {
  auto effects = getEffectsRecursively(op);
  if (!effects)
    return false;
  return llvm::all_of(*effects, [&](MemoryEffects::EffectInstance &effect) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      return true;
    Value touched = effect.getValue();
    auto isOther = [&](Value value) {
      return !isa<MemRefType>(value.getType()) ||
             aliases.alias(touched, value).isNo();
    };
    return touched && llvm::all_of(dests, isOther) &&
           (isa<MemoryEffects::Read>(effect.getEffect()) ||
            llvm::all_of(inputs, isOther));
  });
}

void Run::merge() const {
  if (writes.size() < 2)
    return;
  WriteOp first = getFirst(), last = writes.back();
  OpBuilder builder(last);
  SmallVector<Value> dests, values;
  SmallVector<AffineMap> maps, orders;
  SmallVector<bool> boxes;
  SmallVector<Location> locs;
  for (WriteOp write : writes) {
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
  merged.setDisjoint(true);
  merged.getWhere().takeBody(first.getWhere());
  unsigned next = 0;
  for (WriteOp write : writes) {
    for (Region &body : write.getBodies())
      merged.getBodies()[next++].takeBody(body);
    write.erase();
  }
}

//===----------------------------------------------------------------------===//
// Runs of a block
//===----------------------------------------------------------------------===//

/// Does a memref of `type` have elements that lie in one place?
static bool hasRepeatedElements(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         llvm::any_of(llvm::zip_equal(strides, type.getShape()),
                      [](auto strideAndSize) {
                        auto [stride, size] = strideAndSize;
                        return stride == 0 && size != 1;
                      });
}

/// May `write` be merged with others at all? If not, says why.
static bool isMember(WriteOp write) {
  if (write.hasTensorForm() || isRefused(write))
    return false;
  for (Value dest : write.getDests()) {
    if (!hasRepeatedElements(cast<MemRefType>(dest.getType())))
      continue;
    emitRefusal(write, Refusal::Overlap,
                "elements of the cache lie in one place: a dimension has "
                "stride 0",
                "write into the cache before it is expanded", dest.getLoc());
    return false;
  }
  return true;
}

namespace {
/// Collects the runs of a block, whose operations are added from first to last.
class RunCollector {
public:
  explicit RunCollector(AliasAnalysis &aliases) : aliases(aliases) {}

  void add(Operation &op) {
    auto write = dyn_cast<WriteOp>(op);
    if (write && !isMember(write))
      write = WriteOp();
    Run *joined = write ? findRun(write) : nullptr;
    for (unsigned i = open.size(); i-- > 0;)
      if (&open[i] != joined && !open[i].commutesWith(&op, aliases)) {
        remember(open[i].getFirst(), &op);
        close(i);
      }
    if (write)
      join(write);
  }

  /// The runs of the block, which ends here.
  SmallVector<Run> take() {
    llvm::append_range(closed, open);
    return std::move(closed);
  }

private:
  Run *findRun(WriteOp write) {
    return llvm::find_if(open, [&](const Run &run) {
      return WriteOp(run.getFirst()).hasSameTokens(write);
    });
  }

  void join(WriteOp write) {
    Run *run = findRun(write);
    if (run == open.end()) {
      emitOrder(write);
    } else if (run->hasRoomFor(write) && run->mayAdd(write, aliases)) {
      run->add(write);
      return;
    } else {
      close(run - open.begin());
    }
    if (open.size() == kMaxRuns)
      close(0);
    open.emplace_back(write);
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
  SmallVector<Run, 0> open, closed;
  SmallVector<std::pair<WriteOp, Operation *>> blocked;
};

struct KVMergeWritesPass : kvfuse::impl::KVMergeWritesBase<KVMergeWritesPass> {
  void runOnOperation() override {
    auto &aliases = getAnalysis<AliasAnalysis>();
    aliases.addAnalysisImplementation(DistinctBuffers());
    getOperation()->walk([&](Block *block) {
      RunCollector collector(aliases);
      for (Operation &op : *block)
        collector.add(op);
      for (const Run &run : collector.take())
        run.merge();
    });
  }
};
} // namespace
