//===- IndexRanges.cpp - Bounds of index values ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexRanges.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Fusion/InferIntRangeInterfaceImpl.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace kvfuse;

IndexRanges::IndexRanges(Operation *root) {
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<dataflow::IntegerRangeAnalysis>();
  // Without an answer every range is the widest one.
  (void)solver.initializeAndRun(root);
}

ConstantIntRanges IndexRanges::getRange(Value value) {
  const auto *lattice =
      solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (lattice && !lattice->getValue().isUninitialized())
    return lattice->getValue().getValue();
  return ConstantIntRanges::maxRange(
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth());
}

//===----------------------------------------------------------------------===//
// Ranges of operations that have none upstream
//===----------------------------------------------------------------------===//

namespace {
/// The default of the interface does not compile in an external model.
template <typename Model, typename Op>
struct RangeModel : InferIntRangeInterface::ExternalModel<Model, Op> {
  void inferResultRangesFromOptional(Operation *op,
                                     ArrayRef<IntegerValueRange> operands,
                                     SetIntLatticeFn setResultRange) const {
    intrange::detail::defaultInferResultRanges(cast<InferIntRangeInterface>(op),
                                               operands, setResultRange);
  }
};

/// The range of an affine expression of the operands' ranges.
struct ApplyRange : RangeModel<ApplyRange, kv::ApplyOp> {
  void inferResultRanges(Operation *op, ArrayRef<ConstantIntRanges> operands,
                         SetIntRangeFn setResultRange) const {
    auto apply = cast<kv::ApplyOp>(op);
    setResultRange(
        apply.getResult(),
        intrange::inferAffineExpr(apply.getMap().getResult(0), operands, {}));
  }
};

/// Every element of a splat is its operand.
struct SplatRange : RangeModel<SplatRange, tensor::SplatOp> {
  void inferResultRanges(Operation *op, ArrayRef<ConstantIntRanges> operands,
                         SetIntRangeFn setResultRange) const {
    setResultRange(op->getResult(0), operands.front());
  }
};
} // namespace

void kvfuse::registerInferIntRangeExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, kv::KVDialect *) {
    kv::ApplyOp::attachInterface<ApplyRange>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::SplatOp::attachInterface<SplatRange>(*context);
  });
}
