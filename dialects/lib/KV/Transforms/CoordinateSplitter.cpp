//===- CoordinateSplitter.cpp - Coordinates computed beforehand -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoordinateSplitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::kv;

AffineMap CoordinateSplitter::split(SmallVectorImpl<Value> &indices) {
  SmallVector<Split> splits;
  for (AffineExpr expr : write.getMap(0).getResults())
    splits.push_back(splitExpr(expr));
  // The shape of an index operand is the grid, used or not.
  if (operands.empty())
    keepIndex(0);

  unsigned gridRank = write.getGridRank(), rowRank = write.getRowRank(0);
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < gridRank; ++dim)
    dims.push_back(builder.getAffineDimExpr(dim));
  // Index values that the rest does not use may get any number.
  for (unsigned index = 0; index < write.getNumIndices(); ++index)
    dims.push_back(builder.getAffineDimExpr(gridRank + kept.lookup(index)));
  for (unsigned row = 0; row < rowRank; ++row)
    dims.push_back(builder.getAffineDimExpr(gridRank + operands.size() + row));

  SmallVector<AffineExpr> results;
  for (Split &s : splits) {
    AffineExpr expr = s.rest.replaceDims(dims);
    if (s.operand)
      expr = expr + builder.getAffineDimExpr(gridRank + *s.operand);
    results.push_back(expr);
  }
  indices = operands;
  return AffineMap::get(gridRank + operands.size() + rowRank, 0, results,
                        builder.getContext());
}

Value CoordinateSplitter::getWidened(unsigned index) {
  Value value = write.getIndices()[index];
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType().isInteger(64))
    return value;
  Value &wide = widened[index];
  if (!wide)
    wide = arith::ExtSIOp::create(builder, write.getLoc(),
                                  type.clone(builder.getI64Type()), value);
  return wide;
}

bool CoordinateSplitter::usesIndices(AffineExpr expr) {
  for (unsigned index = 0; index < write.getNumIndices(); ++index)
    if (expr.isFunctionOfDim(write.getGridRank() + index))
      return true;
  return false;
}

bool CoordinateSplitter::usesOnlyIndices(AffineExpr expr) {
  for (unsigned dim = 0; dim < write.getMap(0).getNumDims(); ++dim)
    if (!write.isIndexDim(dim) && expr.isFunctionOfDim(dim))
      return false;
  return true;
}

void CoordinateSplitter::collectTerms(AffineExpr expr, AffineExpr &indexPart,
                                      AffineExpr &rest) {
  if (expr.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expr);
    collectTerms(sum.getLHS(), indexPart, rest);
    collectTerms(sum.getRHS(), indexPart, rest);
    return;
  }
  AffineExpr &part =
      usesIndices(expr) && usesOnlyIndices(expr) ? indexPart : rest;
  part = part + expr;
}

CoordinateSplitter::Split CoordinateSplitter::splitExpr(AffineExpr expr) {
  AffineExpr zero = builder.getAffineConstantExpr(0);
  AffineExpr indexPart = zero, rest = zero;
  if (usesIndices(expr) && usesOnlyIndices(expr))
    indexPart = expr;
  else
    collectTerms(expr, indexPart, rest);
  // Where index values cancel out they stay: a row coordinate that is left
  // alone would have to cover the cache exactly (SX10).
  if (indexPart == zero)
    rest = expr;
  // What mixes indices and rows under a division keeps its indices.
  for (unsigned index = 0; index < write.getNumIndices(); ++index)
    if (rest.isFunctionOfDim(write.getGridRank() + index))
      keepIndex(index);
  if (indexPart == zero)
    return {rest, std::nullopt};
  return {rest, materialize(indexPart)};
}

unsigned CoordinateSplitter::keepIndex(unsigned index) {
  auto [it, inserted] = kept.try_emplace(index, operands.size());
  if (inserted)
    operands.push_back(write.getIndices()[index]);
  return it->second;
}

unsigned CoordinateSplitter::materialize(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return keepIndex(dim.getPosition() - write.getGridRank());
  auto [it, inserted] = computed.try_emplace(expr, operands.size());
  if (!inserted)
    return it->second;
  SmallVector<Value> inputs;
  SmallVector<AffineExpr> dims(write.getMap(0).getNumDims(),
                               builder.getAffineDimExpr(0));
  for (unsigned index = 0; index < write.getNumIndices(); ++index) {
    unsigned dim = write.getGridRank() + index;
    if (!expr.isFunctionOfDim(dim))
      continue;
    dims[dim] = builder.getAffineDimExpr(inputs.size());
    inputs.push_back(getWidened(index));
  }
  operands.push_back(ApplyOp::create(
      builder, write.getLoc(), inputs.front().getType(),
      AffineMap::get(inputs.size(), 0, expr.replaceDims(dims)), inputs));
  return it->second;
}
