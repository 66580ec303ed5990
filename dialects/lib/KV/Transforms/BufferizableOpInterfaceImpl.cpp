//===- BufferizableOpInterfaceImpl.cpp - Bufferization of kv.write --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Transforms/BufferizableOpInterfaceImpl.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::kv;
using namespace mlir::bufferization;

namespace {
/// kv.write is in destination style, and the model for that is upstream's. It
/// counts a destination as read as well as written, and so it must be: the
/// result is the old cache with some rows replaced (SM4), so whoever writes the
/// same buffer before has to be seen, and a copy made for a later reader of the
/// old cache has to hold the old bytes. Values and destination are not accessed
/// element by element at the same place, so values that are read from the
/// destination's buffer conflict, and upstream copies them (SM1).
struct WriteOpInterface
    : DstBufferizableOpInterfaceExternalModel<WriteOpInterface, WriteOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto write = cast<WriteOp>(op);
    if (!write.hasTensorForm())
      return success();
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    auto inPlace = WriteOp::create(rewriter, op->getLoc(), TypeRange(), buffers,
                                   op->getAttrs(), op->getNumRegions());
    for (auto [to, from] :
         llvm::zip_equal(inPlace->getRegions(), op->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    // Tensors are values: upstream copies what would overlap.
    inPlace.setDisjoint(inPlace.getNumDests() > 1);
    replaceOpWithBufferizedValues(rewriter, op, inPlace.getDests());
    return success();
  }
};
} // namespace

void mlir::kv::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KVDialect *) {
    WriteOp::attachInterface<WriteOpInterface>(*context);
  });
}
