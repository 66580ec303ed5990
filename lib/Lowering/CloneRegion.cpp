//===- CloneRegion.cpp - Regions of kv.write in a kernel ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kvfuse;

/// Does a vector of operands give the vector of results, down to the targets?
/// Not all operations that are elementwise have a lowering on vectors: kv.apply
/// becomes `affine.apply`, and `math.fpowi` an intrinsic, both on scalars.
static bool worksOnVectors(Operation &op) {
  return OpTrait::hasElementwiseMappableTraits(&op) &&
         (isa<kv::CastOp>(op) || isa<arith::ArithDialect>(op.getDialect()));
}

/// `value`, a scalar or a vector of the shape of `like`, as a vector.
static Value broadcast(ImplicitLocOpBuilder &b, Value value, VectorType like) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, like.clone(value.getType()), value);
}

static void cloneOnVectors(ImplicitLocOpBuilder &b, Operation &op,
                           IRMapping &mapping, VectorType like) {
  auto operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) {
    return broadcast(b, mapping.lookupOrDefault(operand), like);
  });
  Operation *clone = b.clone(op, mapping);
  clone->setOperands(operands);
  for (Value result : clone->getResults())
    result.setType(like.clone(result.getType()));
}

static void cloneForEachElement(ImplicitLocOpBuilder &b, Operation &op,
                                IRMapping &mapping, VectorType like) {
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t element = 0; element < like.getNumElements(); ++element) {
    IRMapping scalars = mapping;
    for (Value operand : op.getOperands())
      if (Value mapped = mapping.lookupOrDefault(operand);
          isa<VectorType>(mapped.getType()))
        scalars.map(operand, vector::ExtractOp::create(b, mapped, element));
    Operation *clone = b.clone(op, scalars);
    for (auto [elements, result] : llvm::zip(results, clone->getResults()))
      elements.push_back(result);
  }
  for (auto [result, elements] : llvm::zip(op.getResults(), results))
    mapping.map(result, vector::FromElementsOp::create(
                            b, like.clone(result.getType()), elements));
}

Value kvfuse::cloneRegion(ImplicitLocOpBuilder &b, Block &block,
                          ValueRange arguments, IRMapping mapping) {
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

Value kvfuse::cloneRegionOnVector(ImplicitLocOpBuilder &b, Block &block,
                                  Value elements, IRMapping mapping) {
  auto type = cast<VectorType>(elements.getType());
  mapping.map(block.getArgument(0), elements);
  for (Operation &op : block.without_terminator()) {
    bool dependsOnElement = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
    });
    if (!dependsOnElement)
      b.clone(op, mapping);
    else if (worksOnVectors(op))
      cloneOnVectors(b, op, mapping, type);
    else
      cloneForEachElement(b, op, mapping, type);
  }
  Value stored = block.getTerminator()->getOperand(0);
  return broadcast(b, mapping.lookupOrDefault(stored), type);
}
