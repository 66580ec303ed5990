//===- NormalizeSlices.cpp - Slices of pools, one written after another ---===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why it is legal. Every step replaces a value by one with the same elements:
//
// - Coordinates that are constant select a slice.
// - A slice of a slice is one slice; putting a slice back into the slice that
//   it was taken from, and that one into its pool, is putting it back into the
//   pool.
// - A slice that is written twice may be put back and taken out in between.
// - A result that was put back is a slice of the pool that it was put into.
// - A slice that shares no element with what an insertion has replaced is the
//   same slice of the insertion's result.
//
// Insertions have no effects, so that they may stand anywhere behind what they
// use. Afterwards no slice of an old version of a pool is used behind the
// insertion that made the next one, unless they overlap; whether the pool may
// then be written in place is for kv-outline-writes to find.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "ConstantCoordinates.h"
#include "Slices.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVNORMALIZESLICES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
/// Offsets, sizes and strides of a slice.
struct Geometry {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// `inner`, a slice of what `outer` takes out, as a slice of its source.
static FailureOr<Geometry> compose(OpBuilder &builder,
                                   tensor::ExtractSliceOp outer,
                                   OffsetSizeAndStrideOpInterface inner) {
  Geometry composed;
  if (failed(affine::mergeOffsetsSizesAndStrides(
          builder, inner->getLoc(), outer, inner, outer.getDroppedDims(),
          composed.offsets, composed.sizes, composed.strides)))
    return failure();
  return composed;
}

/// extract(extract(%pool)) -> extract(%pool).
static void composeExtraction(tensor::ExtractSliceOp slice) {
  auto outer = slice.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!outer)
    return;
  OpBuilder builder(slice);
  FailureOr<Geometry> composed = compose(builder, outer, slice);
  if (failed(composed))
    return;
  auto merged = tensor::ExtractSliceOp::create(
      builder, slice.getLoc(), slice.getType(), outer.getSource(),
      composed->offsets, composed->sizes, composed->strides);
  slice.replaceAllUsesWith(merged.getResult());
  slice.erase();
}

/// All operations of type `OpT` in `root`, in program order.
template <typename OpT> static SmallVector<OpT> collect(Operation *root) {
  SmallVector<OpT> ops;
  root->walk<WalkOrder::PreOrder>([&](OpT op) { ops.push_back(op); });
  return ops;
}

/// insert(insert(%y, %slice), %pool), where %slice is the same slice of %pool
/// -> insert(%y, %pool); of several insertions into %slice, one after the
/// other. Returns the insertions into the pool, in order, or none if `insert`
/// stays as it is.
static SmallVector<tensor::InsertSliceOp>
composeInsertion(tensor::InsertSliceOp insert) {
  SmallVector<tensor::InsertSliceOp> chain;
  Value start = insert.getSource();
  while (auto inner = start.getDefiningOp<tensor::InsertSliceOp>()) {
    chain.push_back(inner);
    start = inner.getDest();
  }
  auto outer = start.getDefiningOp<tensor::ExtractSliceOp>();
  if (chain.empty() || !outer || outer.getSource() != insert.getDest() ||
      !isSameSlice(outer, insert))
    return {};
  SmallVector<tensor::InsertSliceOp> inserts;
  Value pool = insert.getDest();
  for (tensor::InsertSliceOp inner : llvm::reverse(chain)) {
    OpBuilder builder(inner->getContext());
    builder.setInsertionPointAfter(inner);
    FailureOr<Geometry> composed = compose(builder, outer, inner);
    if (failed(composed))
      return {};
    inserts.push_back(tensor::InsertSliceOp::create(
        builder, inner.getLoc(), inner.getSource(), pool, composed->offsets,
        composed->sizes, composed->strides));
    pool = inserts.back();
    // For whoever uses the slice between.
    auto again = cast<tensor::ExtractSliceOp>(builder.clone(*outer));
    again.getSourceMutable().assign(pool);
    inner.replaceAllUsesWith(again.getResult());
    inner.erase();
    for (Operation *user : llvm::make_early_inc_range(again->getUsers()))
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
        composeExtraction(slice);
  }
  insert.replaceAllUsesWith(pool);
  insert.erase();
  return inserts;
}

/// Puts `insert` behind what it puts back, and lets it name the elements by the
/// very values that the slice `slice` does.
static tensor::InsertSliceOp moveUp(tensor::InsertSliceOp insert,
                                    tensor::ExtractSliceOp slice,
                                    DominanceInfo &dominance) {
  Operation *write = insert.getSource().getDefiningOp();
  OpBuilder builder(insert);
  if (dominance.properlyDominates(insert.getDest(), write))
    builder.setInsertionPointAfter(write);
  auto moved = tensor::InsertSliceOp::create(
      builder, insert.getLoc(), insert.getSource(), insert.getDest(),
      slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
  insert.replaceAllUsesWith(moved.getResult());
  insert.erase();
  return moved;
}

/// What uses the result that `insert` puts back, behind it, uses a slice of the
/// new version instead.
static void takeOutAgain(tensor::InsertSliceOp insert,
                         tensor::ExtractSliceOp slice,
                         DominanceInfo &dominance) {
  Value written = insert.getSource();
  auto isAfter = [&](OpOperand &use) {
    return dominance.properlyDominates(insert.getOperation(), use.getOwner());
  };
  if (llvm::none_of(written.getUses(), isAfter))
    return;
  OpBuilder builder(insert->getContext());
  builder.setInsertionPointAfter(insert);
  auto newest = cast<tensor::ExtractSliceOp>(builder.clone(*slice));
  newest.getSourceMutable().assign(insert.getResult());
  written.replaceUsesWithIf(newest.getResult(), isAfter);
}

/// extract, write, write, insert -> extract, write, insert, extract, write,
/// insert. Returns all insertions, in order.
static SmallVector<tensor::InsertSliceOp>
putBackEach(tensor::InsertSliceOp insert, tensor::ExtractSliceOp slice) {
  SmallVector<OpResult> results;
  Value version = insert.getSource();
  while (auto write = version.getDefiningOp<WriteOp>()) {
    results.push_back(cast<OpResult>(version));
    version = write.getDests()[results.back().getResultNumber()];
  }
  SmallVector<tensor::InsertSliceOp> inserts = {insert};
  // Not around loops and type casts, nor where the pool is another version.
  if (version != slice.getResult() || slice.getSource() != insert.getDest())
    return inserts;
  for (OpResult result : llvm::drop_begin(results)) {
    auto next = cast<WriteOp>(results[inserts.size() - 1].getOwner());
    OpBuilder builder(next);
    builder.setInsertionPointAfter(result.getOwner());
    auto putBack = cast<tensor::InsertSliceOp>(builder.clone(*insert));
    putBack.getSourceMutable().assign(result);
    auto again = cast<tensor::ExtractSliceOp>(builder.clone(*slice));
    again.getSourceMutable().assign(putBack.getResult());
    next.getDestsMutable()[results[inserts.size() - 1].getResultNumber()]
        .assign(again.getResult());
    inserts.back().getDestMutable().assign(putBack.getResult());
    inserts.push_back(putBack);
  }
  return llvm::to_vector(llvm::reverse(inserts));
}

/// Takes each slice of `write` that is put back behind it out right before it.
static void takeOutBefore(WriteOp write) {
  for (auto [i, dest] : llvm::enumerate(write.getDestsMutable())) {
    auto slice = dest.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !getWriteBack(write, i))
      continue;
    OpBuilder builder(write);
    if (slice->hasOneUse())
      slice->moveBefore(write);
    else
      dest.set(builder.clone(*slice)->getResult(0));
  }
}

/// Sizes of versions become sizes of what they are versions of, which is
/// returned for each: they are the same, and nobody needs an old version for
/// them.
static DenseMap<Value, Value> askArgumentsForSizes(Operation *root) {
  DenseMap<Value, Value> first;
  auto add = [&](Value version, Value previous) {
    // By value: a reference into the map would not survive the insertion.
    Value oldest = first.lookup_or(previous, previous);
    first[version] = oldest;
  };
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto write = dyn_cast<WriteOp>(op); write && write.hasTensorForm())
      for (auto [result, dest] :
           llvm::zip_equal(write.getResults(), write.getDests()))
        add(result, dest);
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      add(insert.getResult(), insert.getDest());
    else if (auto dim = dyn_cast<tensor::DimOp>(op))
      if (auto known = first.find(dim.getSource()); known != first.end())
        dim.getSourceMutable().assign(known->second);
  });
  return first;
}

/// What `insert` puts into an older version than the one that `slice` was taken
/// out of, and that differs in this slice only, it puts into that one: nothing
/// is left of the difference. Canonicalization skips such versions.
static void insertIntoNewest(tensor::InsertSliceOp insert,
                             tensor::ExtractSliceOp slice) {
  Value version = slice.getSource();
  while (version != insert.getDest()) {
    auto between = version.getDefiningOp<tensor::InsertSliceOp>();
    if (!between || !isSameSlice(slice, between))
      return;
    version = between.getDest();
  }
  insert.getDestMutable().assign(slice.getSource());
}

/// insert(extract(p), p) -> p, where both name the same slice.
static bool foldInsertion(tensor::InsertSliceOp insert) {
  auto slice = insert.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !isSameSlice(slice, insert))
    return false;
  insertIntoNewest(insert, slice);
  if (slice.getSource() != insert.getDest())
    return false;
  insert.replaceAllUsesWith(insert.getDest());
  insert.erase();
  return true;
}

/// Puts back early what `insert` puts back, in one step, and takes what is used
/// behind it out of the version that it leaves: the next insertion may need
/// that to be composed.
static void putBackEarly(tensor::InsertSliceOp insert,
                         DominanceInfo &dominance) {
  if (foldInsertion(insert))
    return;
  SmallVector<tensor::InsertSliceOp> inserts = composeInsertion(insert);
  for (tensor::InsertSliceOp composed : inserts)
    putBackEarly(composed, dominance);
  if (!inserts.empty())
    return;
  tensor::ExtractSliceOp slice = getWrittenSlice(insert);
  if (!slice)
    return;
  insertIntoNewest(insert, slice);
  insert = moveUp(insert, slice, dominance);
  for (tensor::InsertSliceOp each : putBackEach(insert, slice)) {
    takeOutAgain(each, slice, dominance);
    readNewestVersion(each, dominance);
  }
}

void kvfuse::normalizeSlices(Operation *root) {
  SmallVector<WriteOp> writes = collect<WriteOp>(root);
  if (writes.empty())
    return;
  selectConstants(writes, askArgumentsForSizes(root));
  for (auto slice : collect<tensor::ExtractSliceOp>(root))
    composeExtraction(slice);
  // In program order: each insertion finds the slices of the one before it.
  DominanceInfo dominance(root);
  for (auto insert : collect<tensor::InsertSliceOp>(root))
    putBackEarly(insert, dominance);
  for (WriteOp write : writes)
    takeOutBefore(write);
  auto slices = collect<tensor::ExtractSliceOp>(root);
  for (tensor::ExtractSliceOp slice : llvm::reverse(slices))
    if (slice->use_empty())
      slice.erase();
}

namespace {
struct KVNormalizeSlicesPass
    : kvfuse::impl::KVNormalizeSlicesBase<KVNormalizeSlicesPass> {
  void runOnOperation() override { normalizeSlices(getOperation()); }
};
} // namespace
