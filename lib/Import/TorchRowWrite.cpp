//===- TorchRowWrite.cpp - What a torch operation writes where ------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchRowWrite.h"

#include "TorchTypes.h"
#include "kvfuse/Remarks/Refusal.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

using Reader = FailureOr<RowWrite> (*)(Operation *);

/// torch-mlir leaves index_copy without its name space where it has no
/// operation of its own for it.
static Reader getReader(Operation *op) {
  return llvm::StringSwitch<Reader>(getTorchName(op))
      .Cases({"torch.aten._index_put_impl", "torch.aten._unsafe_index_put",
              "torch.aten._unsafe_index_put.hacked_twin",
              "torch.aten.index_put", "torch.aten.index_put.hacked_twin"},
             readIndexPut)
      .Cases({"torch.aten.index_copy", "index_copy"}, readIndexCopy)
      .Case("torch.aten.scatter.src", readScatter)
      .Default(nullptr);
}

bool torch::isRowWrite(Operation *op) { return getReader(op) != nullptr; }

FailureOr<RowWrite> torch::readRowWrite(Operation *op) {
  return getReader(op)(op);
}

LogicalResult torch::readCacheAndValues(Operation *op, RowWrite &write,
                                        unsigned cache, unsigned values) {
  write.cache = op->getOperand(cache);
  write.values = op->getOperand(values);
  RankedTensorType cacheType = readTensorType(write.cache.getType());
  RankedTensorType valueType = readTensorType(write.values.getType());
  if (!cacheType || !valueType ||
      op->getResult(0).getType() != write.cache.getType()) {
    emitRefusal(op, Refusal::OpaqueOp,
                "takes " + toText(write.values.getType()) + " and " +
                    toText(write.cache.getType()) + " to " +
                    toText(op->getResult(0).getType()),
                "export with static ranks and element types");
    return failure();
  }
  if (cacheType.getElementType() != valueType.getElementType()) {
    emitRefusal(op, Refusal::OpaqueOp,
                "rows of " + toText(valueType.getElementType()) +
                    " for a cache of " + toText(cacheType.getElementType()),
                "cast the rows to the element type of the cache");
    return failure();
  }
  return success();
}

LogicalResult torch::checkIndexType(Operation *op, Value index, unsigned dim) {
  RankedTensorType type = readTensorType(index.getType());
  // Torch takes tensors of bool and of uint8 for masks.
  if (type && (type.getElementType().isSignlessInteger(1) ||
               type.getElementType().isUnsignedInteger(8))) {
    emitRefusal(op, Refusal::MaskIndex,
                "dimension " + Twine(dim) + " is indexed by the mask " +
                    toText(index.getType()),
                "index by slot numbers");
    return failure();
  }
  if (!type || (!type.getElementType().isSignedInteger(32) &&
                !type.getElementType().isSignedInteger(64))) {
    emitRefusal(op, Refusal::IndexUnknown,
                "SX1: dimension " + Twine(dim) + " is indexed by " +
                    toText(index.getType()),
                "index by tensors of int32 or int64");
    return failure();
  }
  return success();
}
