//===- ConvertKVToGPU.cpp - Buffers to kernels and launches ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "KernelTable.h"
#include "LaunchShape.h"
#include "kvfuse/Dialect/KV/Analysis/ArgumentNames.h"
#include "kvfuse/Dialect/KV/Transforms/Passes.h"
#include "kvfuse/Dialect/KV/Transforms/SizeChecks.h"
#include "kvfuse/Layout/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kvfuse {
#define GEN_PASS_DEF_CONVERTKVTOGPU
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Host side
//===----------------------------------------------------------------------===//

/// Launches `kernel` with `blocksX` by `blocksY` blocks, unless there is
/// nothing to do (SX9).
static gpu::LaunchFuncOp createLaunch(ImplicitLocOpBuilder &b,
                                      const Kernel &kernel, gpu::GPUFuncOp func,
                                      Value blocksX, Value blocksY,
                                      int64_t blockSize = kBlockSize) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value blocks = b.createOrFold<arith::MulIOp>(blocksX, blocksY);
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, blocks, zero);
  auto ifAny = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifAny.thenBlock());
  Value threads = arith::ConstantIndexOp::create(b, blockSize);
  return gpu::LaunchFuncOp::create(
      b, func, gpu::KernelDim3{blocksX, blocksY, one},
      gpu::KernelDim3{threads, one, one},
      /*dynamicSharedMemorySize=*/Value(), kernel.operands);
}

/// Blocks for `elements`, or groups of them, of which a block has `share`; at
/// most as many as the grid's dimension holds; the kernels loop.
static Value createNumBlocks(ImplicitLocOpBuilder &b, Value elements,
                             int64_t most, int64_t share) {
  Value blocks = b.createOrFold<arith::CeilDivUIOp>(
      elements, arith::ConstantIndexOp::create(b, share));
  return b.createOrFold<arith::MinUIOp>(
      blocks, arith::ConstantIndexOp::create(b, most));
}

/// Groups of elements in the rows of one token, over all destinations.
static Value createGroupsPerToken(ImplicitLocOpBuilder &b, WriteOp write) {
  Value total = arith::ConstantIndexOp::create(b, 0);
  for (unsigned i = 0; i < write.getNumDests(); ++i) {
    SmallVector<Value> extents = createRowExtents(
        b, write, i, write.getDests()[i], write.getValues()[i]);
    SmallVector<Value> counts = createGroupCounts(b, write, i, extents);
    total = b.createOrFold<arith::AddIOp>(total, createProduct(b, counts));
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// Launches a kernel of `shape` for the rows of `tokens` tokens.
static gpu::LaunchFuncOp launchWrite(KernelTable &kernels, WriteOp write,
                                     const KernelInputs &inputs,
                                     ImplicitLocOpBuilder &b,
                                     const LaunchShape &shape, Value tokens) {
  Kernel kernel = kernels.create(write, "kv_write", inputs);
  buildWriteKernel(write, kernel, shape);
  gpu::GPUFuncOp func = kernels.finish(kernel);
  Value blocksX = b.createOrFold<arith::CeilDivUIOp>(
      tokens, arith::ConstantIndexOp::create(b, shape.tokensPerThread));
  Value blocksY =
      shape.blocksPerToken
          ? arith::ConstantIndexOp::create(b, *shape.blocksPerToken).getResult()
          : createNumBlocks(b, createGroupsPerToken(b, write), 65535,
                            shape.blockSize);
  gpu::LaunchFuncOp launch =
      createLaunch(b, kernel, func, blocksX, blocksY, shape.blockSize);
  launch->setDiscardableAttrs(write->getDiscardableAttrDictionary());
  return launch;
}

static void convertWrite(KernelTable &kernels, WriteOp write,
                         const KernelInputs &inputs,
                         const LaunchShapeOptions &options) {
  ImplicitLocOpBuilder b(write.getLoc(), write);
  if (!write.isVersioned())
    createSizeChecks(b, write);
  SmallVector<Value> grid;
  for (unsigned dim = 0; dim < write.getGridRank(); ++dim)
    grid.push_back(createSize(b, write.getIndices().front(), dim));
  Value tokens = createProduct(b, grid);
  LaunchShapes shapes = chooseShapes(write, options);
  auto launch = [&](const LaunchShape &shape) {
    return launchWrite(kernels, write, inputs, b, shape, tokens);
  };
  if (shapes.areSame()) {
    launch(shapes.few);
  } else {
    Value areFew = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult, tokens,
        arith::ConstantIndexOp::create(b, shapes.manyTokens));
    auto choice = scf::IfOp::create(b, areFew, /*withElseRegion=*/true);
    choice->setAttr(kVersionsAttr, b.getUnitAttr());
    // Operands are converted in front of the write.
    choice->moveAfter(write);
    b.setInsertionPointToStart(choice.thenBlock());
    launch(shapes.few);
    b.setInsertionPointToStart(choice.elseBlock());
    launch(shapes.many)
        ->setAttr(kMinTokensAttr, b.getI64IntegerAttr(shapes.manyTokens));
  }
  write.erase();
}

static LogicalResult convertGeneric(KernelTable &kernels, linalg::GenericOp op,
                                    const KernelInputs &inputs) {
  if (!isElementwise(op))
    return op.emitOpError("is not elementwise on buffers, so it is no kernel");
  // A kernel is named after the operation it runs on every element.
  std::string name = "elementwise";
  if (Operation &first = op.getBody()->front();
      first.getNextNode() == op.getBody()->getTerminator()) {
    name = first.getName().getStringRef();
    llvm::replace(name, '.', '_');
  }
  Kernel kernel = kernels.create(op, name, inputs);
  buildElementwiseKernel(op, kernel);
  gpu::GPUFuncOp func = kernels.finish(kernel);

  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> sizes = createLoopSizes(b, op, op->getOperands());
  for (auto [operand, map] :
       llvm::zip(op->getOperands(), op.getIndexingMapsArray()))
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      createSizeCheck(b, createSize(b, operand, dim),
                      sizes[cast<AffineDimExpr>(expr).getPosition()],
                      "operands of an elementwise operation differ in size" +
                          kv::quoteName(operand));
  Value elements = createProduct(b, sizes);
  createLaunch(b, kernel, func,
               createNumBlocks(b, elements, std::numeric_limits<int32_t>::max(),
                               kBlockSize * kElementsPerThread),
               arith::ConstantIndexOp::create(b, 1));
  op.erase();
  return success();
}

/// Destinations that nobody said are disjoint are written one after the other.
static void decompose(WriteOp write) {
  IRRewriter rewriter(write.getContext());
  if (!write.hasTensorForm() && !write.getDisjoint())
    decomposeIntoSingleWrites(rewriter, write);
}

/// kv.apply of i64 values -> affine.apply, whose arithmetic is in 64-bit
/// `index`.
static void convertApply(ApplyOp apply) {
  if (isa<ShapedType>(apply.getType()))
    return;
  ImplicitLocOpBuilder b(apply.getLoc(), apply);
  SmallVector<Value> inputs;
  for (Value input : apply.getInputs())
    inputs.push_back(arith::IndexCastOp::create(b, b.getIndexType(), input));
  Value result = affine::AffineApplyOp::create(b, apply.getMap(), inputs);
  apply.replaceAllUsesWith(
      arith::IndexCastOp::create(b, apply.getType(), result).getResult());
  apply.erase();
}

/// memref.copy -> the same elementwise: the host cannot read what a device
/// holds.
static void convertCopy(memref::CopyOp copy) {
  OpBuilder builder(copy);
  linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                           copy.getTarget());
  copy.erase();
}

namespace {
struct ConvertKVToGPUPass
    : kvfuse::impl::ConvertKVToGPUBase<ConvertKVToGPUPass> {
  using ConvertKVToGPUBase::ConvertKVToGPUBase;

  void runOnOperation() override {
    KernelTable kernels(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && failed(convert(kernels, func)))
        return signalPassFailure();
    getOperation().walk(convertApply);
  }

private:
  LogicalResult convert(KernelTable &kernels, func::FuncOp func) {
    func.walk(convertCopy);
    func.walk(decompose);
    InputCollector collector(func);
    SmallVector<std::pair<Operation *, KernelInputs>> sites;
    func.walk([&](Operation *op) {
      if (isa<WriteOp, linalg::GenericOp>(op))
        sites.emplace_back(op, collector.collect(op));
    });
    for (auto &[site, inputs] : sites) {
      if (auto write = dyn_cast<WriteOp>(site)) {
        if (write.hasTensorForm())
          return write.emitOpError("is on tensors; it is lowered on buffers "
                                   "only");
        convertWrite(kernels, write, inputs, {blockSize, tokensPerThread});
      } else if (failed(convertGeneric(kernels, cast<linalg::GenericOp>(site),
                                       inputs))) {
        return failure();
      }
    }
    return success();
  }
};
} // namespace
