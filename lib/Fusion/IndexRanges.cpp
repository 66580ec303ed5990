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

/// A constant without elements, of which upstream's analysis reads the first.
static bool isEmptyConstant(arith::ConstantOp constant) {
  auto elements = dyn_cast<ElementsAttr>(constant.getValue());
  return elements && elements.empty();
}

IndexRanges::IndexRanges(Operation *root) {
  WalkResult result = root->walk([](arith::ConstantOp constant) {
    return isEmptyConstant(constant) ? WalkResult::interrupt()
                                     : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return;
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<dataflow::IntegerRangeAnalysis>();
  (void)solver.initializeAndRun(root);
}

/// The predicate of the same comparison with its sides swapped.
static arith::CmpIPredicate swapSides(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  default:
    return arith::CmpIPredicate::eq; // tells `restrict` nothing
  }
}

/// `range` where it is on the left of `predicate`, a comparison that holds, and
/// `other` on the right.
static ConstantIntRanges restrict(const ConstantIntRanges &range,
                                  arith::CmpIPredicate predicate,
                                  const ConstantIntRanges &other) {
  APInt low = range.smin(), high = range.smax();
  switch (predicate) {
  case arith::CmpIPredicate::sge:
    low = llvm::APIntOps::smax(low, other.smin());
    break;
  case arith::CmpIPredicate::sgt:
    if (!other.smin().isMaxSignedValue())
      low = llvm::APIntOps::smax(low, other.smin() + 1);
    break;
  case arith::CmpIPredicate::sle:
    high = llvm::APIntOps::smin(high, other.smax());
    break;
  case arith::CmpIPredicate::slt:
    if (!other.smax().isMinSignedValue())
      high = llvm::APIntOps::smin(high, other.smax() - 1);
    break;
  default:
    break;
  }
  // Otherwise the comparison never holds.
  return low.sle(high) ? ConstantIntRanges::fromSigned(low, high) : range;
}

/// The range of select(compare, x, y), where upstream does not refine those of
/// x and y by what is compared.
ConstantIntRanges IndexRanges::getSelectRange(arith::SelectOp select,
                                              arith::CmpIOp compare) {
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  auto getArmRange = [&](Value arm, arith::CmpIPredicate predicate) {
    ConstantIntRanges range = getRange(arm);
    if (arm == lhs)
      return restrict(range, predicate, getRange(rhs));
    if (arm == rhs)
      return restrict(range, swapSides(predicate), getRange(lhs));
    return range;
  };
  arith::CmpIPredicate predicate = compare.getPredicate();
  return getArmRange(select.getTrueValue(), predicate)
      .rangeUnion(getArmRange(select.getFalseValue(),
                              arith::invertPredicate(predicate)));
}

ConstantIntRanges IndexRanges::getRange(Value value) {
  if (auto it = selectRanges.find(value); it != selectRanges.end())
    return it->second;
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    if (auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>()) {
      ConstantIntRanges range = getSelectRange(select, compare);
      selectRanges.try_emplace(value, range);
      return range;
    }
  const auto *lattice =
      solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (lattice && !lattice->getValue().isUninitialized())
    return lattice->getValue().getValue();
  return ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(
      getElementTypeOrSelf(value.getType())));
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
