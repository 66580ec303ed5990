//===- FoldRepeatedWrites.cpp - What is written already -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why folding is legal. A write puts rows into a version of a cache. If an
// earlier version, on the way back from it, is the result of a write of the
// same rows at the same places, and all that was written in between lies
// elsewhere, then the rows are there already; or, of tokens with equal
// coordinates, what one of them writes (SX7). The write returns its destination
// as it is. It fails only where the earlier one has failed.
//
// The earlier write is an operand of an operand of the later one, so it has run
// whenever the later one runs, also one in a branch.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "Slices.h"
#include "kvfuse/Dialect/KV/Analysis/Disjoint.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVFOLDREPEATEDWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// Does destination `i` of `write` get the rows of destination `j` of `other`,
/// at the same coordinates?
static bool putsSameRows(WriteOp write, unsigned i, WriteOp other, unsigned j) {
  Value values = write.getValues()[i], others = other.getValues()[j];
  return values.getType() == others.getType() &&
         stripTypeCasts(values) == stripTypeCasts(others) &&
         write.getMap(i) == other.getMap(j) &&
         write.getOrder(i) == other.getOrder(j) &&
         write.isBox(i) == other.isBox(j) && write.hasSameTokens(other) &&
         OperationEquivalence::isRegionEquivalentTo(
             &write.getBodies()[i], &other.getBodies()[j],
             OperationEquivalence::IgnoreLocations);
}

/// Does destination `i` of `write` hold its rows already?
static bool isWritten(WriteOp write, unsigned i) {
  Value version = write.getDests()[i];
  // The slices of `version` that the destination is, the innermost first.
  SmallVector<tensor::ExtractSliceOp> slices;
  while (true) {
    version = stripTypeCasts(version);
    Operation *def = version.getDefiningOp();
    if (auto other = dyn_cast_or_null<WriteOp>(def)) {
      unsigned j = cast<OpResult>(version).getResultNumber();
      if (slices.empty() && putsSameRows(write, i, other, j))
        return true;
      if (!areRowsDisjoint(other, j, write, i, stripTypeCasts))
        return false;
      version = other.getDests()[j];
    } else if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(def)) {
      slices.push_back(slice);
      version = slice.getSource();
    } else if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(def)) {
      if (slices.empty())
        return false;
      if (isSameSlice(slices.back(), insert)) {
        slices.pop_back();
        version = insert.getSource();
      } else if (areDisjointSlices(slices.back(), insert)) {
        version = insert.getDest();
      } else {
        return false;
      }
    } else {
      return false;
    }
  }
}

/// insert(extract(%pool), %pool) of one slice -> %pool.
static void foldInsertion(tensor::InsertSliceOp insert) {
  auto slice = insert.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSource() != insert.getDest() ||
      !isSameSlice(slice, insert))
    return;
  insert.replaceAllUsesWith(insert.getDest());
  insert.erase();
  if (slice->use_empty())
    slice.erase();
}

/// if { yield %c } else { yield %c } -> %c.
static void foldBranches(scf::IfOp branch) {
  if (branch.getNumResults() == 0)
    return;
  for (auto [result, one, other] :
       llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                       branch.elseYield().getOperands()))
    if (one == other)
      result.replaceAllUsesWith(one);
  if (isOpTriviallyDead(branch))
    branch.erase();
}

/// Keeps the names of `write` in the source, for a framework that has nodes of
/// these names.
static void recordRepetition(WriteOp write) {
  auto func = write->getParentOfType<func::FuncOp>();
  if (!func)
    return;
  SmallVector<Attribute> names;
  if (auto known = func->getAttrOfType<ArrayAttr>(kRepeatedAttr))
    names.assign(known.begin(), known.end());
  write.getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.push_back(name.getName());
    return WalkResult::advance();
  });
  if (!names.empty())
    func->setAttr(kRepeatedAttr, ArrayAttr::get(write.getContext(), names));
}

/// write(%c) -> %c.
static void fold(WriteOp write) {
  recordRepetition(write);
  SmallVector<Operation *> users(write->getUsers());
  write->replaceAllUsesWith(write.getDests());
  write.erase();
  for (Operation *user : users)
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      foldInsertion(insert);
}

namespace {
struct KVFoldRepeatedWritesPass
    : kvfuse::impl::KVFoldRepeatedWritesBase<KVFoldRepeatedWritesPass> {
  void runOnOperation() override {
    // Branches come after what they hold, and before what uses them.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<WriteOp, scf::IfOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto branch = dyn_cast<scf::IfOp>(op))
        foldBranches(branch);
      else if (auto write = cast<WriteOp>(op); repeats(write))
        fold(write);
    }
    seen.clear();
  }

private:
  /// Are all rows of `write` written already? Only writes of the same values at
  /// the same indices are worth a look back.
  bool repeats(WriteOp write) {
    if (!write.hasTensorForm())
      return false;
    bool repeats = true;
    for (Value value : write.getValues())
      repeats &=
          !seen.insert({stripTypeCasts(value), write.getIndices().front()})
               .second;
    for (unsigned i = 0; repeats && i < write.getNumDests(); ++i)
      repeats = isWritten(write, i);
    return repeats;
  }

  DenseSet<std::pair<Value, Value>> seen;
};
} // namespace
