//===- ElementwiseKernel.cpp - Kernels of an unfused chain ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread takes a few elements of a block's share, and loads all of them
// before it stores any: one alone would leave most of a GPU's bandwidth unused.
// As many, and as far apart, as in torch's kernels, which are what the chain is
// compared with.
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

namespace {
class ElementwiseKernelBuilder {
public:
  ElementwiseKernelBuilder(linalg::GenericOp op, Kernel &kernel)
      : op(op), kernel(kernel),
        b(op.getLoc(), OpBuilder::atBlockEnd(&kernel.func.getBody().back())),
        arguments(llvm::map_to_vector(op->getOperands(), [&](Value value) {
          return kernel.mapping.lookup(value);
        })) {}

  void build() {
    sizes = createLoopSizes(b, op, arguments);
    total = createProduct(b, sizes);
    Value threads = gpu::BlockDimOp::create(b, gpu::Dimension::x);
    scf::ForOp loop =
        createThreadLoop(b, gpu::Dimension::x, total, kElementsPerThread);
    gpu::ReturnOp::create(b);

    b.setInsertionPointToStart(loop.getBody());
    Value last =
        arith::SubIOp::create(b, total, arith::ConstantIndexOp::create(b, 1));
    Value linear = loop.getInductionVar();
    SmallVector<Element> elements;
    for (int64_t i = 0; i < kElementsPerThread; ++i) {
      if (i > 0)
        linear = arith::AddIOp::create(b, linear, threads);
      elements.push_back(load(linear, last, /*exists=*/i == 0));
    }
    for (Element &element : elements)
      store(element);
  }

private:
  /// One element of a thread.
  struct Element {
    SmallVector<Value> point;
    /// What the body of the operation reads.
    IRMapping mapping;
    /// Is there such an element? Null if there is. If not, another was loaded.
    Value exists;
  };

  SmallVector<Value> getPlace(OpOperand &operand, ArrayRef<Value> point) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
      return point[cast<AffineDimExpr>(expr).getPosition()];
    });
  }

  Element load(Value linear, Value last, bool exists) {
    Element element;
    element.mapping = kernel.mapping;
    if (!exists) {
      element.exists =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, linear, total);
      linear = arith::MinUIOp::create(b, linear, last);
    }
    element.point = delinearize(b, linear, sizes);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!op.payloadUsesValueFromOperand(&operand))
        continue;
      Value value = arguments[operand.getOperandNumber()];
      if (!op.isScalar(&operand))
        value = memref::LoadOp::create(
            b, value, getPlace(operand, element.point),
            /*nontemporal=*/false, getElementAlignment(value));
      element.mapping.map(op.getMatchingBlockArgument(&operand), value);
    }
    return element;
  }

  void store(Element &element) {
    OpBuilder::InsertionGuard guard(b);
    enterIf(b, element.exists);
    for (Operation &nested : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(nested))
        element.mapping.map(index.getResult(), element.point[index.getDim()]);
      else
        b.clone(nested, element.mapping);
    }
    Operation *yield = op.getBody()->getTerminator();
    for (auto [result, init] :
         llvm::zip(yield->getOperands(), op.getDpsInitsMutable())) {
      Value buffer = arguments[init.getOperandNumber()];
      memref::StoreOp::create(b, element.mapping.lookupOrDefault(result),
                              buffer, getPlace(init, element.point),
                              /*nontemporal=*/false,
                              getElementAlignment(buffer));
    }
  }

  linalg::GenericOp op;
  Kernel &kernel;
  ImplicitLocOpBuilder b;
  SmallVector<Value> arguments, sizes;
  Value total;
};
} // namespace

void kvfuse::buildElementwiseKernel(linalg::GenericOp op, Kernel &kernel) {
  ElementwiseKernelBuilder(op, kernel).build();
}
