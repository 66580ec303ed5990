//===- OutlineWrites.cpp - Groups of writes into module @kvfuse -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "InPlace.h"
#include "Outliner.h"
#include "Slices.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVOUTLINEWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// Is `op` computed element by element, with no order among the elements?
static bool isParallel(linalg::LinalgOp op) {
  return op.getNumLoops() == op.getNumParallelLoops() &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Does `value`, a scalar, go nowhere but into kernels? The host could not read
/// it where it lies in memory of a device.
static bool isForKernels(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<linalg::LinalgOp>(user) ||
        isa<linalg::LinalgOp, tensor::GenerateOp, WriteOp>(user->getParentOp()))
      return true;
    if (isa<tensor::SplatOp>(user))
      return use.getOperandNumber() == 0;
    return isa_and_nonnull<arith::ArithDialect>(user->getDialect()) &&
           llvm::all_of(user->getResults(), isForKernels);
  });
}

/// Is `op` one that kvfuse bufferizes and lowers itself? Of the tensor, linalg
/// and scf operations, some have no bufferization or no kernel.
static bool isKnown(Operation *op) {
  // A kernel's body is a list of scalar operations.
  if (isa<linalg::LinalgOp, tensor::GenerateOp>(op->getParentOp()) &&
      op->getNumRegions() != 0)
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return isParallel(structured);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return isForKernels(extract);
  return isa_and_nonnull<KVDialect, arith::ArithDialect>(op->getDialect()) ||
         isa<affine::AffineApplyOp, bufferization::AllocTensorOp,
             linalg::IndexOp, linalg::YieldOp, tensor::CastOp,
             tensor::CollapseShapeOp, tensor::DimOp, tensor::EmptyOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::GenerateOp,
             tensor::InsertSliceOp, tensor::SplatOp, tensor::YieldOp,
             scf::ForOp, scf::IfOp, scf::YieldOp>(op);
}

/// Can `func` be compiled whole: known operations, and arguments of types that
/// they have?
static bool isWhollyKnown(func::FuncOp func) {
  if (!llvm::all_of(func.getArgumentTypes(), [](Type type) {
        return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
      }))
    return false;
  WalkResult walk = func.getBody().walk([](Operation *op) {
    return isKnown(op) || isa<func::ReturnOp>(op) ? WalkResult::advance()
                                                  : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

/// Is `op` the copy of what a write reads, made because that may be part of the
/// cache?
static bool isCopyForWrite(Operation *op) {
  auto copy = dyn_cast_or_null<bufferization::AllocTensorOp>(op);
  return copy && copy.getCopy() && op->hasOneUse() &&
         isa<WriteOp>(*op->user_begin()) &&
         isRefused(cast<WriteOp>(*op->user_begin()));
}

namespace {
struct KVOutlineWritesPass
    : kvfuse::impl::KVOutlineWritesBase<KVOutlineWritesPass> {
  using KVOutlineWritesBase::KVOutlineWritesBase;

  void runOnOperation() override {
    if (Operation *taken = getOperation().lookupSymbol(kWritesModule);
        taken && !isa<ModuleOp>(taken)) {
      taken->emitError("the name '")
          << kWritesModule << "' is needed for the module of cache writes";
      return signalPassFailure();
    }
    normalizeSlices(getOperation());
    SmallVector<func::FuncOp> funcs;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        funcs.push_back(func);

    Outliner outliner(getOperation());
    // What is on buffers is in its place already.
    bool found = false;
    if (auto nested = getOperation().lookupSymbol<ModuleOp>(kWritesModule))
      nested.walk([&](WriteOp write) { found = true; });
    for (func::FuncOp func : funcs) {
      SmallVector<Site> sites;
      bool anyLeft = false, anyRefused = false;
      CacheBases bases;
      OldContents oldContents;
      func.walk([&](Block *block) {
        collectSites(*block, bases, oldContents, sites, anyLeft, anyRefused);
      });
      if (anyRefused && required) {
        func.emitError("a write was not fused, and fusing is required");
        return signalPassFailure();
      }
      if (sites.empty())
        continue;
      found = true;
      bool whole = !keepCallers && !anyLeft && isWhollyKnown(func);
      collectProducers(sites, oldContents, whole);
      for (Site &site : sites) {
        bool isFused = group && !isRefused(site.writes.front());
        Location loc = site.writes.front().getLoc();
        unsigned numDests = countDests(site);
        passOffsets(site);
        func::FuncOp outlined = outliner.outline(site);
        if (isFused)
          emitFused(func, loc, numDests, outlined);
      }
      if (failed(finish(outliner, func, whole)))
        return signalPassFailure();
    }
    if (required && !found) {
      getOperation().emitError("no cache write was found, and fusing is "
                               "required");
      signalPassFailure();
    }
  }

private:
  /// Runs of neighbouring writes of `block` that may be done in place. Slices
  /// that are taken out for them and put back stand between.
  void collectSites(Block &block, CacheBases &bases, OldContents &oldContents,
                    SmallVectorImpl<Site> &sites, bool &anyLeft,
                    bool &anyRefused) {
    Run run(bases, oldContents);
    auto endRun = [&] {
      addSites(run.getWrites(), sites);
      run = Run(bases, oldContents);
    };
    // The operations that belong to the last write, and to the next one.
    llvm::SmallDenseSet<Operation *> attached;
    for (Operation &op : block) {
      auto write = dyn_cast<WriteOp>(op);
      if (!write || !write.hasTensorForm()) {
        if (!isAttached(&op, attached))
          endRun();
        continue;
      }
      bool mayWrite = mayWriteInPlace(write, bases, oldContents);
      anyRefused |= !mayWrite || isRefused(write);
      if (!mayWrite || (keepCallers && isRefused(write))) {
        anyLeft = true;
        endRun();
        continue;
      }
      ArrayRef<WriteOp> others = run.getWrites();
      bool joins = group && !others.empty() && !isRefused(write) &&
                   !isRefused(others.back()) &&
                   write.hasSameTokens(others.front()) && run.mayAdd(write);
      if (!joins)
        endRun();
      run.add(write);
      attached.insert_range(getWithSlices(write));
    }
    endRun();
  }

  /// Is `op` a slice that is taken out for the next write, or does it put back
  /// what the last one returns, as `attached` says?
  static bool isAttached(Operation *op,
                         const llvm::SmallDenseSet<Operation *> &attached) {
    if (attached.contains(op))
      return true;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice || !slice->hasOneUse())
      return false;
    auto write = dyn_cast<WriteOp>(*slice->user_begin());
    return write && llvm::is_contained(getWithSlices(write), op);
  }

  /// Makes a site of `writes`, or one of each if they do not put back all
  /// slices themselves that they take out: what is put back elsewhere is taken
  /// out elsewhere too, or it would be copied.
  static void addSites(ArrayRef<WriteOp> writes, SmallVectorImpl<Site> &sites) {
    Site site;
    site.writes.assign(writes.begin(), writes.end());
    llvm::SetVector<Operation *> attached;
    for (WriteOp write : writes)
      attached.insert_range(getWithSlices(write));
    llvm::SmallDenseSet<Operation *> closed;
    for (Operation *op : attached)
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        if (tensor::ExtractSliceOp slice = getWrittenSlice(insert);
            attached.contains(slice))
          closed.insert_range(ArrayRef<Operation *>{insert, slice});
    for (Operation *op : attached)
      if (isa<WriteOp>(op) || closed.contains(op))
        site.body.push_back(op);
    if (writes.size() > 1 && site.body.size() != attached.size()) {
      for (WriteOp write : writes)
        addSites(write, sites);
    } else if (!writes.empty()) {
      sites.push_back(std::move(site));
    }
  }

  static unsigned countDests(Site &site) {
    unsigned numDests = 0;
    for (WriteOp write : site.writes)
      numDests += write.getNumDests();
    return numDests;
  }

  static void emitFused(func::FuncOp func, Location loc, unsigned numDests,
                        func::FuncOp outlined) {
    remark::passed(loc, remark::RemarkOpts::name(kFusedRemark)
                            .category(kRemarkCategory)
                            .function(func.getName()))
        << remark::metric("Destinations", numDests)
        << remark::metric("Outlined", outlined.getName());
  }

  /// What computes the writes' operands, and scalars of their regions, from
  /// known operations. Of a function that moves `whole`, the former goes with
  /// it anyway. An operation that reads a cache stays where it is: at the site,
  /// an earlier one may have changed the contents.
  static void collectProducers(MutableArrayRef<Site> sites,
                               OldContents &oldContents, bool whole) {
    llvm::DenseSet<Value> caches;
    for (Site &site : sites)
      for (WriteOp write : site.writes)
        for (unsigned i = 0; i < write.getNumDests(); ++i)
          caches.insert_range(oldContents.get(write, i).getValues());
    auto readsCache = [&](Operation *op) {
      return !isNoAccess(op) && llvm::any_of(op->getOperands(), [&](Value v) {
        return caches.contains(v);
      });
    };
    for (Site &site : sites) {
      llvm::SetVector<Value> worklist;
      for (WriteOp write : site.writes) {
        if (!whole)
          worklist.insert_range(write->getOperands());
        getUsedValuesDefinedAbove(write->getRegions(), worklist);
      }
      llvm::SetVector<Operation *> found;
      while (!worklist.empty()) {
        Operation *def = worklist.pop_back_val().getDefiningOp();
        if (isCopyForWrite(def)) {
          found.insert(def);
          continue;
        }
        if (!def || isa<WriteOp>(def) || !isKnown(def) || !isPure(def) ||
            def->getNumRegions() != 0 || readsCache(def) || !found.insert(def))
          continue;
        worklist.insert_range(def->getOperands());
      }
      site.producers = topologicalSort(found);
    }
  }

  static LogicalResult finish(Outliner &outliner, func::FuncOp func,
                              bool whole) {
    StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
    if (whole) {
      func->removeAttr(kRepeatedAttr);
      // SM5: what is not declared may not be written, not even to reuse it.
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (isa<TensorType>(func.getArgument(i).getType()))
          func.setArgAttr(
              i, writable,
              BoolAttr::get(func.getContext(), isDeclaredMutated(func, i)));
      return outliner.moveWhole(func);
    }
    // The marks of SM5 have done their work; the caller's text is as it was.
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      func.removeArgAttr(i, writable);
    outliner.declareCallees(func);
    return success();
  }
};
} // namespace
