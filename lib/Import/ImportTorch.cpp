//===- ImportTorch.cpp - Torch's cache writes to the kv dialect -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Demand driven: each index_put fetches what it needs, so that whatever does
// not feed a write stays as it is.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Import/Passes.h"

#include "TorchCaches.h"
#include "TorchConversions.h"
#include "TorchFunction.h"
#include "TorchRefusals.h"
#include "TorchRoots.h"
#include "TorchTypes.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVIMPORTTORCH
#include "kvfuse/Import/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

namespace {
/// Imports the writes of one function.
class FunctionImporter {
public:
  FunctionImporter(func::FuncOp func, const Policies &policies)
      : func(func), policies(policies), chain(func, policies),
        caches(chain, func.getContext()), builder(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult importWrite(Operation *op);
  FailureOr<Placement> place(Operation *op, const RowWrite &write,
                             FailureOr<CacheView> &view);

  func::FuncOp func;
  const Policies &policies;
  ChainConverter chain;
  CacheVersions caches;
  OpBuilder builder;
  /// Operations that a remark has named already.
  SmallPtrSet<Operation *, 4> named;
};
} // namespace

/// Where `write` writes in the cache that its tensor is a view of. Emits a
/// remark on failure.
FailureOr<Placement> FunctionImporter::place(Operation *op,
                                             const RowWrite &write,
                                             FailureOr<CacheView> &view) {
  ViewRefusal why;
  view = readView(write.cache, why);
  if (succeeded(view) && succeeded(checkDestination(op, write, *view, why))) {
    FailureOr<Placement> placement = placeWrite(write, *view, why);
    if (succeeded(placement))
      return placement;
  }
  emitRefusal(op, why.reason, why.found, why.suggest, why.cause);
  return failure();
}

/// index_put(cache, [i, none, j], rows, false)
///   -> kv.write at(i, j) put rows into cache map((t, i, j, h, d) -> (i, h, j,
///      d))
/// Negative indices wrap, or are errors where torch says so, and those outside
/// the cache fail, as in torch.
LogicalResult FunctionImporter::importWrite(Operation *op) {
  FailureOr<RowWrite> write = readRowWrite(op);
  FailureOr<CacheView> view = failure();
  FailureOr<Placement> placement = failure();
  if (succeeded(write))
    placement = place(op, *write, view);
  if (failed(placement)) {
    named.insert(op);
    return success();
  }
  if (failed(chain.checkCompression(*write, op))) {
    named.insert(op);
    return success();
  }
  SmallVector<Value> indices = chain.convertIndices(write->indices, op);
  if (areRanges(indices)) {
    emitRefusal(op, Refusal::Contiguous,
                "copies rows to a slice of the cache: one kernel already",
                "index by a tensor of positions to have it fused with others");
    named.insert(op);
    return success();
  }
  if (Operation *division = findDynamicDivision(indices))
    emitRefusal(op, Refusal::DynamicPage,
                "the divisor of " + getTorchName(division) + " is no constant",
                "export with a static page size", division->getLoc());
  builder.setInsertionPoint(op);
  if (write->droppedIndexDims.any())
    for (Value &index : indices)
      index = tensor::dropGivenUnitDims(builder, op->getLoc(), index,
                                        write->droppedIndexDims);
  FailureOr<Value> mask = chain.getMask(*write, indices, op);
  if (failed(mask))
    return failure();
  Value values = chain.convertRows(write->values);
  caches.write(op, *write, *view, *placement, indices, *mask, values,
               policies.negative.value_or(write->negative),
               policies.outOfBounds);
  return success();
}

LogicalResult FunctionImporter::run() {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isRowWrite(op) || isViewOp(op) || readSliceScatter(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (isRowWrite(op)) {
      if (failed(importWrite(op)))
        return failure();
    } else if (std::optional<SliceScatter> scatter = readSliceScatter(op)) {
      caches.putBack(*scatter);
    } else {
      caches.undoViews(op);
    }
  }
  SmallVector<Operation *> replaced(caches.getReplaced());
  bool hasWrites = !replaced.empty();
  if (hasWrites && failed(checkMetadata(func, chain, replaced)))
    return failure();
  if (hasWrites)
    checkPickedSizes(func, chain, replaced);
  llvm::append_range(replaced, chain.getConvertedOps());
  eraseDeadOps(replaced);
  reportOpaqueOps(func, named);
  reportOtherUpdates(func, named);
  if (hasWrites)
    convertSignature(func);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct KVImportTorchPass : kvfuse::impl::KVImportTorchBase<KVImportTorchPass> {
  using KVImportTorchBase::KVImportTorchBase;

  void runOnOperation() override {
    FailureOr<Policies> policies = readPolicies();
    if (failed(policies))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](func::FuncOp func) {
      return WalkResult(FunctionImporter(func, *policies).run());
    });
    if (result.wasInterrupted() || failed(markMutated(getOperation(), mutates)))
      signalPassFailure();
  }

private:
  FailureOr<Policies> readPolicies();

  LogicalResult refuseOption(StringRef option, StringRef choices,
                             StringRef found) {
    return emitError(getOperation().getLoc(), option)
           << ": expected " << choices << ", but got '" << found << "'";
  }
};
} // namespace

FailureOr<Policies> KVImportTorchPass::readPolicies() {
  Policies policies;
  if (torchVersion != "2.11" && torchVersion != "2.13")
    return refuseOption("torch-version", "2.11 or 2.13", torchVersion);
  policies.saturatingCasts = torchVersion == "2.13";

  if (negative == "skip") {
    // No token that is not masked has a negative index.
    policies.skipNegative = true;
    policies.negative = kv::NegativePolicy::undefined;
  } else if (!negative.empty()) {
    auto policy = kv::symbolizeNegativePolicy(negative);
    if (!policy)
      return refuseOption("negative", "wrap, error, skip or undefined",
                          negative);
    policies.negative = *policy;
  }
  if (!outOfBounds.empty()) {
    auto policy = kv::symbolizeBoundsPolicy(outOfBounds);
    if (!policy)
      return refuseOption("out-of-bounds", "trap, skip or undefined",
                          outOfBounds);
    policies.outOfBounds = *policy;
  }
  if (!reservedSlot.empty()) {
    int64_t slot;
    if (StringRef(reservedSlot).getAsInteger(10, slot))
      return refuseOption("reserved-slot", "an integer", reservedSlot);
    policies.reservedSlot = slot;
  }
  return policies;
}
