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

#include "TorchFunction.h"
#include "TorchIndexPut.h"
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
        builder(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult importWrite(Operation *op);
  void replaceByWrite(Operation *op, kv::WriteOp write);
  void reportOpaqueOps();

  func::FuncOp func;
  const Policies &policies;
  ChainConverter chain;
  OpBuilder builder;
  /// Torch operations that the import has made superfluous.
  SmallVector<Operation *> replaced;
  /// Those of index_put that a remark has named already.
  SmallPtrSet<Operation *, 4> refused;
};
} // namespace

/// index_put(cache, [i, none, j], rows, false)
///   -> kv.write at(i, j) put rows into cache map((t, i, j, h, d) -> (i, h, j,
///      d))
/// Negative indices wrap and those outside the cache fail, as in torch.
LogicalResult FunctionImporter::importWrite(Operation *op) {
  FailureOr<IndexPut> put = readIndexPut(op);
  if (failed(put)) {
    refused.insert(op);
    return success();
  }
  SmallVector<Value> indices = chain.convertIndices(put->indices, op);
  FailureOr<Value> mask = chain.getMask(indices, op);
  if (failed(mask))
    return failure();
  Value cache = chain.convertCache(put->cache);
  Value values = chain.convert(put->values);
  builder.setInsertionPoint(op);
  if (put->repeatedDims.any())
    values = tensor::dropGivenUnitDims(builder, op->getLoc(), values,
                                       put->repeatedDims);
  replaceByWrite(op, kv::WriteOp::create(builder, op->getLoc(), indices, *mask,
                                         cache, values, put->map, put->order,
                                         /*boxes=*/false, policies.negative,
                                         policies.outOfBounds));
  return success();
}

/// Users that are not converted see the new cache through a cast.
void FunctionImporter::replaceByWrite(Operation *op, kv::WriteOp write) {
  Value result = write->getResult(0);
  OperationState state(op->getLoc(), kFromBuiltin, result,
                       op->getResultTypes());
  Operation *cast = builder.create(state);
  op->replaceAllUsesWith(cast);
  chain.record(cast->getResult(0), result);
  // The operation itself goes last, with what only it used.
  replaced.append({op, cast});
}

/// Names the operations, unknown to kvfuse, that take a cache: readers or
/// writers whose order with the writes must be kept.
void FunctionImporter::reportOpaqueOps() {
  llvm::DenseSet<Value> caches;
  func.walk([&](kv::WriteOp write) {
    caches.insert_range(write.getDests());
    caches.insert_range(write.getResults());
  });
  func.walk([&](Operation *op) {
    if (isToBuiltin(op) && caches.contains(op->getResult(0)))
      caches.insert(op->getOperand(0));
    if (isFromBuiltin(op) && caches.contains(op->getOperand(0)))
      caches.insert(op->getResult(0));
  });
  func.walk([&](Operation *op) {
    if ((op->isRegistered() && !isTorchOp(op)) || isToBuiltin(op) ||
        isFromBuiltin(op) || refused.contains(op))
      return;
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return caches.contains(v); }))
      emitRefusal(op, Refusal::OpaqueOp, getTorchName(op) + " takes a cache",
                  "move it before or after the writes");
  });
}

LogicalResult FunctionImporter::run() {
  SmallVector<Operation *> indexPuts;
  func.walk([&](Operation *op) {
    if (isIndexPut(op))
      indexPuts.push_back(op);
  });
  for (Operation *op : indexPuts)
    if (failed(importWrite(op)))
      return failure();
  if (replaced.empty())
    return success();
  if (failed(checkMetadata(func, chain, replaced)))
    return failure();
  llvm::append_range(replaced, chain.getConvertedOps());
  eraseDeadOps(replaced);
  reportOpaqueOps();
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
