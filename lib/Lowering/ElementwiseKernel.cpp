//===- ElementwiseKernel.cpp - Kernels of an unfused chain ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kvfuse;

bool kvfuse::isElementwise(linalg::GenericOp op) {
  return op.hasPureBufferSemantics() &&
         op.getNumLoops() == op.getNumParallelLoops() &&
         llvm::all_of(
             *op.getBody(),
             [](Operation &nested) { return nested.getNumRegions() == 0; }) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

SmallVector<Value> kvfuse::createLoopSizes(ImplicitLocOpBuilder &b,
                                           linalg::GenericOp op,
                                           ValueRange operands) {
  SmallVector<Value> sizes(op.getNumLoops());
  for (auto [operand, map] : llvm::zip(operands, op.getIndexingMapsArray()))
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      Value &size = sizes[cast<AffineDimExpr>(expr).getPosition()];
      if (!size)
        size = createSize(b, operand, dim);
    }
  return sizes;
}

void kvfuse::buildElementwiseKernel(linalg::GenericOp op, Kernel &kernel) {
  ImplicitLocOpBuilder b(op.getLoc(),
                         OpBuilder::atBlockEnd(&kernel.func.getBody().back()));
  SmallVector<Value> arguments =
      llvm::map_to_vector(op->getOperands(), [&](Value value) {
        return kernel.mapping.lookup(value);
      });
  SmallVector<Value> sizes = createLoopSizes(b, op, arguments);

  scf::ForOp loop =
      createThreadLoop(b, gpu::Dimension::x, createProduct(b, sizes));
  gpu::ReturnOp::create(b);

  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> point = delinearize(b, loop.getInductionVar(), sizes);
  auto place = [&](OpOperand &operand) {
    SmallVector<Value> coordinates;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      coordinates.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
    return coordinates;
  };
  auto argument = [&](OpOperand &operand) {
    return arguments[operand.getOperandNumber()];
  };

  IRMapping mapping = kernel.mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    Value element = argument(operand);
    if (!op.isScalar(&operand))
      element = memref::LoadOp::create(b, element, place(operand));
    mapping.map(op.getMatchingBlockArgument(&operand), element);
  }
  for (Operation &nested : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      mapping.map(index.getResult(), point[index.getDim()]);
    else
      b.clone(nested, mapping);
  }
  Operation *yield = op.getBody()->getTerminator();
  for (auto [result, init] :
       llvm::zip(yield->getOperands(), op.getDpsInitsMutable()))
    memref::StoreOp::create(b, mapping.lookupOrDefault(result), argument(init),
                            place(init));
}
