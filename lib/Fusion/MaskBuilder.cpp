//===- MaskBuilder.cpp - Masks in the region `where` ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskBuilder.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// What a mask says
//===----------------------------------------------------------------------===//

/// The side of `compare` that is not negative where it holds, given which side
/// is a constant.
static Value getNonNegativeSide(arith::CmpIOp compare,
                                std::optional<int64_t> lhs,
                                std::optional<int64_t> rhs) {
  auto isAtLeast = [](std::optional<int64_t> constant, int64_t bound) {
    return constant && *constant >= bound;
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
    return isAtLeast(rhs, 0) ? compare.getLhs() : Value();
  case arith::CmpIPredicate::sgt:
    return isAtLeast(rhs, -1) ? compare.getLhs() : Value();
  case arith::CmpIPredicate::sle:
    return isAtLeast(lhs, 0) ? compare.getRhs() : Value();
  case arith::CmpIPredicate::slt:
    return isAtLeast(lhs, -1) ? compare.getRhs() : Value();
  default:
    return {};
  }
}

/// Walks over the comparisons that all hold where `condition` does, a scalar or
/// an element of a tensor; `evaluate` is the expression of a value in them.
static void assumeHolds(ElementAccess condition, const GridSplit *split,
                        llvm::function_ref<AffineExpr(Value, Coords)> evaluate,
                        IndexAnalysis &analysis) {
  if (isa<RankedTensorType>(condition.tensor.getType()))
    while (auto source = getMovedFrom(condition, split))
      condition = std::move(*source);
  Operation *def = condition.tensor.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(def)) {
    for (Value operand : def->getOperands())
      assumeHolds({operand, condition.coords}, split, evaluate, analysis);
    return;
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(def);
  if (!compare)
    return;
  auto getConstant = [&](Value value) {
    auto expr =
        dyn_cast_or_null<AffineConstantExpr>(evaluate(value, condition.coords));
    return expr ? std::optional(expr.getValue()) : std::nullopt;
  };
  Value side = getNonNegativeSide(compare, getConstant(compare.getLhs()),
                                  getConstant(compare.getRhs()));
  AffineExpr expr = side ? evaluate(side, condition.coords) : AffineExpr();
  if (expr)
    analysis.assumeNonNegative(expr);
}

void kvfuse::assumeMask(WriteOp write, const TokenGrid &grid,
                        IndexAnalysis &analysis) {
  auto evaluate = [&](Value value, Coords coords) {
    return analysis.tryEvaluate(value, coords);
  };
  SmallVector<AffineExpr> coords(grid.getCoords());
  if (write.getMask())
    assumeHolds({write.getMask(), coords}, grid.getSplit(), evaluate, analysis);
  if (!write.hasWhere())
    return;
  // The arguments of the region are the index operands.
  Block &where = write.getWhere().front();
  auto evaluateScalar = [&](Value value, Coords coords) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &where
               ? evaluate(write.getIndices()[argument.getArgNumber()], coords)
               : evaluate(value, coords);
  };
  assumeHolds({where.getTerminator()->getOperand(0), coords}, grid.getSplit(),
              evaluateScalar, analysis);
}

//===----------------------------------------------------------------------===//
// Masks on scalars
//===----------------------------------------------------------------------===//

Value MaskBuilder::buildInteger(Location loc, const ElementAccess &integer) {
  AffineExpr expr = analysis.tryEvaluate(integer.tensor, integer.coords);
  if (!expr)
    return {};
  // The region knows no grid coordinates.
  for (unsigned dim = 0; dim <= grid.getRank(); ++dim)
    if (expr.isFunctionOfDim(dim))
      return {};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(constant.getValue()));
  if (auto root = dyn_cast<AffineSymbolExpr>(expr))
    return slots[root.getPosition()];
  SmallVector<AffineExpr> dims;
  for (unsigned root = 0; root < slots.size(); ++root)
    dims.push_back(builder.getAffineDimExpr(root));
  return ApplyOp::create(
      builder, loc, AffineMap::get(slots.size(), 0, expr.replaceSymbols(dims)),
      slots);
}

/// A comparison or logical operation. 64 bits compare like 32, with and without
/// sign, for index values are widened with their sign.
Value MaskBuilder::buildOp(Operation *op, Coords coords) {
  bool compares = isa<arith::CmpIOp>(op);
  if (!compares && !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    ElementAccess access{operand, llvm::to_vector(coords)};
    Value scalar =
        compares ? buildInteger(op->getLoc(), access) : build(access);
    if (!scalar)
      return {};
    mapping.map(operand, scalar);
  }
  Operation *onScalars = builder.clone(*op, mapping);
  onScalars->getResult(0).setType(builder.getI1Type());
  return onScalars->getResult(0);
}

Value MaskBuilder::build(ElementAccess mask) {
  while (auto source = getMovedFrom(mask, grid.getSplit()))
    mask = std::move(*source);
  for (auto &[access, value] : built)
    if (access.tensor == mask.tensor && access.coords == mask.coords)
      return value;
  DenseIntElementsAttr constant;
  Value value;
  if (matchPattern(mask.tensor, m_Constant(&constant)) && constant.isSplat())
    value = arith::ConstantOp::create(
        builder, mask.tensor.getLoc(),
        builder.getBoolAttr(constant.getSplatValue<bool>()));
  else if (Operation *def = mask.tensor.getDefiningOp())
    value = buildOp(def, mask.coords);
  built.push_back({mask, value});
  return value;
}
