//===- DecomposeWrites.cpp - kv.write to single writes and to the chain ---===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only fallback code there is: unfused builds, the else branch of guards
// and the reference of tests come from here.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Transforms/Passes.h"

#include "CoordinateSplitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::kv {
#define GEN_PASS_DEF_KVDECOMPOSEWRITES
#include "kvfuse/Dialect/KV/Transforms/Passes.h.inc"
} // namespace mlir::kv

using namespace mlir;
using namespace mlir::kv;

SmallVector<WriteOp> mlir::kv::decomposeIntoSingleWrites(RewriterBase &rewriter,
                                                         WriteOp write) {
  if (write.getNumDests() == 1)
    return {write};
  rewriter.setInsertionPoint(write);
  SmallVector<WriteOp> singles;
  for (unsigned i = 0; i < write.getNumDests(); ++i) {
    auto single = WriteOp::create(rewriter, write.getLoc(), write.getIndices(),
                                  write.getMask(), write.getDests()[i],
                                  write.getValues()[i], write.getMap(i),
                                  write.getOrder(i), write.isBox(i),
                                  write.getNegative(), write.getOutOfBounds());
    if (write.isVersioned())
      single.setAccesses(ArrayRef(*write.getAccesses()).slice(i, 1));
    // A rewriter with a listener cannot clone a region without blocks.
    if (write.hasWhere())
      rewriter.cloneRegionBefore(write.getWhere(), single.getWhere(),
                                 single.getWhere().end());
    single.getBodies()[0].getBlocks().clear();
    rewriter.cloneRegionBefore(write.getBodies()[i], single.getBodies()[0],
                               single.getBodies()[0].end());
    singles.push_back(single);
  }
  SmallVector<Value> results;
  for (WriteOp single : singles)
    llvm::append_range(results, single->getResults());
  rewriter.replaceOp(write, results);
  return singles;
}

//===----------------------------------------------------------------------===//
// A single tensor write into the chain
//===----------------------------------------------------------------------===//

/// `scalar` in every element of a tensor of the shape of `like`.
static Value splatLike(OpBuilder &builder, Location loc, Value scalar,
                       Value like) {
  auto shape = cast<RankedTensorType>(like.getType());
  return tensor::SplatOp::create(
      builder, loc, shape.clone(scalar.getType()), scalar,
      tensor::createDynamicDimValues(builder, loc, like));
}

/// Can the operations of `block`, which work on elements, work on tensors?
static bool isElementwise(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() ||
           OpTrait::hasElementwiseMappableTraits(&op);
  });
}

/// Runs the elementwise operations of `block` on whole tensors, and returns the
/// yielded one. Scalars, constants and captured ones alike, become splats.
static Value runOnTensors(OpBuilder &builder, Block &block,
                          ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  auto mapToTensor = [&](Location loc, Value value) -> Value {
    Value mapped = mapping.lookupOrDefault(value);
    if (isa<RankedTensorType>(mapped.getType()))
      return mapped;
    Value splat = splatLike(builder, loc, mapped, arguments.front());
    mapping.map(value, splat);
    return splat;
  };
  auto shape = cast<RankedTensorType>(arguments.front().getType());
  for (Operation &op : block.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      builder.clone(op, mapping);
      continue;
    }
    for (Value operand : op.getOperands())
      mapToTensor(op.getLoc(), operand);
    Operation *onTensors = builder.clone(op, mapping);
    for (Value result : onTensors->getResults())
      result.setType(shape.clone(result.getType()));
  }
  Operation *yield = block.getTerminator();
  return mapToTensor(yield->getLoc(), yield->getOperand(0));
}

/// The tokens to write, as one mask: of `write` and of its region `where`.
static Value makeMask(OpBuilder &builder, WriteOp write,
                      CoordinateSplitter &splitter) {
  // Slots that the region does not look at give their shape only.
  SmallVector<Value> slots(write.getIndices());
  Region &where = write.getWhere();
  for (auto [index, argument] : llvm::enumerate(where.getArguments()))
    if (!argument.use_empty())
      slots[index] = splitter.getWidened(index);
  Value mask = runOnTensors(builder, where.front(), slots);
  if (!write.getMask())
    return mask;
  return arith::AndIOp::create(builder, write.getLoc(), write.getMask(), mask);
}

void mlir::kv::decomposeIntoChain(RewriterBase &rewriter, WriteOp write) {
  assert(write.getNumDests() == 1 && write.hasTensorForm());
  rewriter.setInsertionPoint(write);
  CoordinateSplitter splitter(rewriter, write);

  Value mask = write.getMask(), values = write.getValues()[0];
  bool keepWhere = write.hasWhere() && !isElementwise(write.getWhere().front());
  if (write.hasWhere() && !keepWhere)
    mask = makeMask(rewriter, write, splitter);
  bool keepBody = !isElementwise(write.getBody(0));
  if (!write.isCopy(0) && !keepBody)
    values = runOnTensors(rewriter, write.getBody(0), values);

  // A region `where` refers to the index operands by position: where it stays,
  // so do they, and the map with them.
  SmallVector<Value> indices(write.getIndices());
  AffineMap map = keepWhere ? write.getMap(0) : splitter.split(indices);

  auto scatter = WriteOp::create(rewriter, write.getLoc(), indices, mask,
                                 write.getDests()[0], values, map,
                                 write.getOrder(0), write.isBox(0),
                                 write.getNegative(), write.getOutOfBounds());
  if (keepWhere)
    rewriter.inlineRegionBefore(write.getWhere(), scatter.getWhere(),
                                scatter.getWhere().end());
  if (keepBody) {
    scatter.getBodies()[0].getBlocks().clear();
    rewriter.inlineRegionBefore(write.getBodies()[0], scatter.getBodies()[0],
                                scatter.getBodies()[0].end());
  }
  rewriter.replaceOp(write, scatter->getResults());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct KVDecomposeWritesPass
    : mlir::kv::impl::KVDecomposeWritesBase<KVDecomposeWritesPass> {
  void runOnOperation() override {
    SmallVector<WriteOp> writes;
    getOperation()->walk([&](WriteOp write) { writes.push_back(write); });
    IRRewriter rewriter(&getContext());
    for (WriteOp write : writes)
      for (WriteOp single : decomposeIntoSingleWrites(rewriter, write))
        if (single.hasTensorForm())
          decomposeIntoChain(rewriter, single);
  }
};
} // namespace
