//===- WriteFaults.cpp - What is not composed, and why --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteComposer.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// Does `expr` rise by 1 when dimension `dim` does, but for a remainder?
static bool hasUnitStride(AffineExpr expr, unsigned dim) {
  if (auto bare = dyn_cast<AffineDimExpr>(expr))
    return bare.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return hasUnitStride(binary.getLHS(), dim) ||
           hasUnitStride(binary.getRHS(), dim);
  return binary.getKind() == AffineExprKind::Mod &&
         hasUnitStride(binary.getLHS(), dim);
}

/// Is each element of what would be rows put by itself, far from the next?
bool WriteComposer::isElementScatter(ArrayRef<AffineExpr> results) const {
  WriteOp op = write;
  for (unsigned row = 0; row < rowRank; ++row)
    if (op.getStaticRowExtent(dest, row) != 1)
      return false;
  AffineExpr innermost = results.front();
  for (auto [expr, size] :
       llvm::zip_equal(results, op.getDestType(dest).getShape()))
    if (size != 1)
      innermost = expr;
  bool isDemoted = false;
  for (unsigned dim = 0; dim < gridRank; ++dim) {
    if (getKind(dim) != DimKind::Demoted)
      continue;
    // All of a dimension is a row, also where the tokens are innermost.
    if (hasUnitStride(innermost, dim) ||
        llvm::is_contained(results, getAffineDimExpr(dim, context)))
      return false;
    isDemoted |= usesDim(results, dim);
  }
  return isDemoted;
}

/// Does `scale` differ along rows, but neither from token to token nor along
/// the innermost dimension, as the weight of a norm does?
bool WriteComposer::isPerHead(ElementAccess scale) const {
  while (auto source = getMovedFrom(scale, grid.getSplit()))
    scale = *source;
  AffineExpr innermost = getValues().coords.back();
  auto type = cast<RankedTensorType>(scale.tensor.getType());
  bool varies = false;
  for (auto [coord, size] : llvm::zip_equal(scale.coords, type.getShape())) {
    if (size == 1)
      continue;
    for (unsigned dim = 0; dim < gridRank + numRoots + rowRank; ++dim) {
      if (!coord.isFunctionOfDim(dim) || getKind(dim) == DimKind::Unit)
        continue;
      if (!getBareRow(getAffineDimExpr(dim, context)) ||
          innermost.isFunctionOfDim(dim))
        return false;
      varies = true;
    }
  }
  return varies;
}

std::optional<Fault>
WriteComposer::findFault(ArrayRef<AffineExpr> results,
                         const PeeledValues &values) const {
  WriteOp op = write;
  if (isElementScatter(results)) {
    Operation *cause = op.getIndices().front().getDefiningOp();
    return Fault{Refusal::ElementScatter, cause ? cause : op.getOperation()};
  }
  Operation *rest = values.rest.tensor.getDefiningOp();
  if (!rest)
    return std::nullopt;
  if (!roundsToNearest(rest))
    return Fault{Refusal::CastMode, rest};
  // A quantisation makes elements of 8 bits; other products are no scales.
  if (isScale(rest) && op.getDestType(dest).getElementTypeBitWidth() == 8)
    for (Value operand : rest->getOperands())
      if (isPerHead({operand, values.rest.coords}))
        return Fault{Refusal::ScaleRank, rest};
  return std::nullopt;
}
