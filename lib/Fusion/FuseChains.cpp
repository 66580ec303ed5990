//===- FuseChains.cpp - Compose the chain into the write ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "ElementwiseRegions.h"
#include "IndexAnalysis.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVFUSECHAINS
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// A write repeated on its own result, once its chain is seen through, leaves
/// the cache as it is.
static void foldRepetition(WriteOp write) {
  auto previous = write.getDests()[0].getDefiningOp<WriteOp>();
  if (!previous || !write.repeats(previous))
    return;
  write->replaceAllUsesWith(previous);
  write.erase();
}

namespace {
/// Composes the chain of one write into it: first looks, then rewrites, so that
/// ranges are asked for while the program is as it was.
class ChainFuser {
public:
  ChainFuser(WriteOp write, IndexRanges &ranges)
      : write(write), builder(write), analysis(ranges) {}

  /// Fails, after a remark, if the chain must stay as it is.
  LogicalResult analyze() {
    for (Value index : write.getIndices()) {
      exprs.push_back(analysis.analyze(index));
      if (!exprs.back()) {
        refuse();
        return failure();
      }
    }
    return success();
  }

  /// Returns the write that has taken the place of the chain.
  WriteOp rewrite() {
    // Of constant indices alone, one stays: its shape is the grid.
    if (analysis.getRoots().empty())
      analysis.addRoot(write.getIndices().front());
    keepCoordinates();
    SmallVector<AffineMap> maps, orders;
    SmallVector<Value> values;
    SmallVector<SmallVector<Operation *>> producers(write.getNumDests());
    for (unsigned i = 0; i < write.getNumDests(); ++i) {
      maps.push_back(composeMap(i));
      orders.push_back(write.getOrder(i));
      values.push_back(peelProducers(write.getValues()[i], producers[i]));
    }
    MaskAbsorber absorber(builder, analysis);
    Value mask = write.getMask();
    bool absorbs = mask && !write.hasWhere() && absorber.canAbsorb(mask);

    auto fused = WriteOp::create(builder, write.getLoc(), analysis.getRoots(),
                                 absorbs ? Value() : mask, write.getDests(),
                                 values, maps, orders, write.getBoxes(),
                                 write.getNegative(), write.getOutOfBounds());
    for (auto [to, from, chain] :
         llvm::zip(fused.getBodies(), write.getBodies(), producers)) {
      to.takeBody(from);
      prependProducers(builder, to, chain);
    }
    if (absorbs)
      buildWhere(fused, absorber, mask);
    else if (write.hasWhere())
      moveWhere(fused);

    SmallVector<Value> operands(write->getOperands());
    write->replaceAllUsesWith(fused);
    write.erase();
    eraseDead(operands);
    return fused;
  }

private:
  void refuse() {
    auto [reason, cause] = *analysis.getRejection();
    std::string name = cause->getName().getStringRef().str();
    if (reason == Refusal::MixedDivision)
      emitRefusal(write, reason,
                  "index computed by " + name +
                      ", which does not round down, from values that may be "
                      "negative",
                  "divide with rounding down, or promise that no index is "
                  "negative (negative=undefined)",
                  cause->getLoc());
    else
      emitRefusal(write, reason,
                  "index computed by " + name +
                      " in fewer than 64 bits, which may not hold it",
                  "widen the index to 64 bits first", cause->getLoc());
    write->setAttr(kRefusedAttr,
                   builder.getStringAttr(stringifyRefusal(reason)));
  }

  /// The map of destination `i`, over the roots.
  AffineMap composeMap(unsigned i) {
    AffineMap map = write.getMap(i);
    unsigned gridRank = write.getGridRank();
    unsigned numRoots = analysis.getRoots().size();
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < gridRank; ++dim)
      dims.push_back(builder.getAffineDimExpr(dim));
    for (AffineExpr expr : exprs)
      dims.push_back(expr.shiftDims(numRoots, gridRank));
    for (unsigned row = 0; row < write.getRowRank(i); ++row)
      dims.push_back(builder.getAffineDimExpr(gridRank + numRoots + row));
    return simplifyAffineMap(map.replaceDimsAndSymbols(
        dims, {}, gridRank + numRoots + write.getRowRank(i), 0));
  }

  /// SX10: a coordinate must not become a bare row coordinate by composition
  /// (0 + d is d), since that one would have to be covered exactly. Indices
  /// that would do so stay as they are, as roots.
  void keepCoordinates() {
    for (unsigned i = 0; i < write.getNumDests(); ++i) {
      AffineMap composed = composeMap(i);
      for (auto [before, after] : llvm::zip_equal(write.getMap(i).getResults(),
                                                  composed.getResults())) {
        auto bare = dyn_cast<AffineDimExpr>(after);
        unsigned numRoots = analysis.getRoots().size();
        if (isa<AffineDimExpr>(before) || !bare ||
            bare.getPosition() < write.getGridRank() + numRoots)
          continue;
        for (unsigned k = 0; k < exprs.size(); ++k)
          if (before.isFunctionOfDim(write.getGridRank() + k))
            exprs[k] = analysis.addRoot(write.getIndices()[k]);
        composed = composeMap(i);
      }
    }
  }

  /// where(mask): the comparisons on the roots, as scalars.
  void buildWhere(WriteOp fused, MaskAbsorber &absorber, Value mask) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types(fused.getNumIndices(), builder.getI64Type());
    SmallVector<Location> locs(types.size(), fused.getLoc());
    Block *block = builder.createBlock(&fused.getWhere(), {}, types, locs);
    Value active = absorber.absorb(mask, block->getArguments());
    YieldOp::create(builder, fused.getLoc(), active);
  }

  /// The region `where` of the old write, its index values computed from the
  /// roots.
  void moveWhere(WriteOp fused) {
    OpBuilder::InsertionGuard guard(builder);
    fused.getWhere().takeBody(write.getWhere());
    Block &block = fused.getWhere().front();
    builder.setInsertionPointToStart(&block);
    unsigned numOld = block.getNumArguments();
    for (Value root : analysis.getRoots())
      block.addArgument(builder.getI64Type(), root.getLoc());
    ValueRange slots = block.getArguments().drop_front(numOld);
    for (auto [old, expr] :
         llvm::zip(block.getArguments().take_front(numOld), exprs))
      old.replaceAllUsesWith(
          ApplyOp::create(builder, fused.getLoc(),
                          AffineMap::get(slots.size(), 0, expr), slots));
    block.eraseArguments(0, numOld);
  }

  /// Erases what computed the operands and has no other user (SM6).
  static void eraseDead(SmallVector<Value> worklist) {
    while (!worklist.empty()) {
      Operation *def = worklist.pop_back_val().getDefiningOp();
      if (!def || !isOpTriviallyDead(def))
        continue;
      SmallVector<Value> operands(def->getOperands());
      // A value may be in the worklist twice.
      llvm::erase_if(worklist,
                     [&](Value v) { return v.getDefiningOp() == def; });
      def->erase();
      llvm::append_range(worklist, operands);
    }
  }

  WriteOp write;
  OpBuilder builder;
  IndexAnalysis analysis;
  /// The index operands, over the roots.
  SmallVector<AffineExpr> exprs;
};

struct KVFuseChainsPass : kvfuse::impl::KVFuseChainsBase<KVFuseChainsPass> {
  using KVFuseChainsBase::KVFuseChainsBase;

  void runOnOperation() override {
    IndexRanges ranges(getOperation());
    std::vector<ChainFuser> fusers;
    WalkResult result = getOperation()->walk([&](WriteOp write) {
      if (!write.hasTensorForm() || isRefused(write))
        return WalkResult::advance();
      ChainFuser fuser(write, ranges);
      if (succeeded(fuser.analyze())) {
        fusers.push_back(std::move(fuser));
      } else if (required) {
        write.emitError("the write was not fused, and fusing is required");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (ChainFuser &fuser : fusers)
      foldRepetition(fuser.rewrite());
  }
};
} // namespace
