//===- IndexAnalysis.cpp - Index values as affine functions ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexAnalysis.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

IndexAnalysis::IndexAnalysis(IndexRanges &ranges, const TokenGrid &grid,
                             RootKind kind, llvm::SmallBitVector span)
    : ranges(ranges), grid(grid), kind(kind), span(std::move(span)) {
  for (int64_t size : grid.getShape())
    exprRanges.dims.push_back(getCoordinateRange(size));
  // The coordinate of a dimension that is split.
  exprRanges.dims.push_back(getCoordinateRange(ShapedType::kDynamic));
}

AffineExpr IndexAnalysis::reject(Refusal reason, Operation *cause) {
  if (!rejection)
    rejection = Fault{reason, cause};
  return {};
}

AffineExpr IndexAnalysis::analyze(Value index) {
  return simplify(evaluate(index, grid.getCoords()));
}

AffineExpr IndexAnalysis::tryEvaluate(Value tensor, Coords coords) {
  std::optional<Fault> before = rejection;
  AffineExpr expr = simplify(evaluate(tensor, coords));
  rejection = before;
  return expr;
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

std::optional<llvm::SmallBitVector> kvfuse::getSpan(Coords coords,
                                                    ArrayRef<int64_t> shape,
                                                    ArrayRef<int64_t> grid) {
  llvm::SmallBitVector span(grid.size());
  for (auto [coord, size] : llvm::zip_equal(coords, shape)) {
    if (size == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(coord);
    if (!dim || dim.getPosition() >= grid.size() ||
        span.find_last() >= int(dim.getPosition()))
      return std::nullopt;
    int64_t gridSize = grid[dim.getPosition()];
    if (gridSize == 1 || (!ShapedType::isDynamic(size) &&
                          !ShapedType::isDynamic(gridSize) && size != gridSize))
      return std::nullopt;
    span.set(dim.getPosition());
  }
  return span;
}

AffineExpr IndexAnalysis::addRoot(Value tensor, Coords coords) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.getElementType().isSignlessInteger(32) &&
      !type.getElementType().isSignlessInteger(64))
    return {};
  auto *known = llvm::find_if(roots, [&](const IndexRoot &root) {
    return root.tensor == tensor && Coords(root.coords) == coords;
  });
  unsigned position = known - roots.begin();
  if (known != roots.end())
    return getAffineSymbolExpr(position, tensor.getContext());
  if (isFrozen)
    return {};

  llvm::SmallBitVector all(grid.getRank(), true);
  if (kind == RootKind::Whole) {
    if (coords != grid.getCoords())
      return {};
    roots.push_back({tensor, llvm::to_vector(coords), all});
  } else {
    std::optional<llvm::SmallBitVector> dims =
        getSpan(coords, type.getShape(), grid.getShape());
    if (!dims || (kind == RootKind::Span && *dims != span))
      return {};
    roots.push_back({tensor, llvm::to_vector(coords), *dims});
  }
  exprRanges.symbols.push_back(
      intrange::extSIRange(ranges.getRange(tensor), 64));
  return getAffineSymbolExpr(position, tensor.getContext());
}

AffineExpr IndexAnalysis::addWholeRoot(Value tensor) {
  assert(kind == RootKind::Whole && "other roots have their own place");
  isFrozen = false;
  AffineExpr root = addRoot(tensor, grid.getCoords());
  isFrozen = true;
  return root;
}

void IndexAnalysis::assumeNonNegative(AffineExpr expr) {
  nonNegative.push_back(expr);
  // What was looked at before did not know.
  evaluated.clear();
  scalars.clear();
  auto root = dyn_cast<AffineSymbolExpr>(expr);
  if (!root)
    return;
  ConstantIntRanges &range = exprRanges.symbols[root.getPosition()];
  range = range.intersection(getCoordinateRange(ShapedType::kDynamic));
}

void IndexAnalysis::pruneRoots(MutableArrayRef<AffineExpr> exprs) {
  SmallVector<IndexRoot> used;
  SmallVector<ConstantIntRanges> usedRanges;
  SmallVector<AffineExpr> symbols;
  for (auto [position, root] : llvm::enumerate(roots)) {
    symbols.push_back(
        getAffineSymbolExpr(used.size(), root.tensor.getContext()));
    if (llvm::none_of(exprs, [&, position = position](AffineExpr expr) {
          return expr.isFunctionOfSymbol(position);
        }))
      continue;
    used.push_back(root);
    usedRanges.push_back(exprRanges.symbols[position]);
  }
  for (AffineExpr &expr : exprs)
    expr = expr.replaceSymbols(symbols);
  roots = std::move(used);
  exprRanges.symbols = std::move(usedRanges);
  evaluated.clear();
  scalars.clear();
  nonNegative.clear();
  isFrozen = true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// `tensor` as start + sum of stride * coordinate, if it is a constant of that
/// form: one number, or an iota.
static AffineExpr getProgression(Value tensor, Coords coords) {
  DenseIntElementsAttr attr;
  if (!matchPattern(tensor, m_Constant(&attr)) || attr.empty())
    return {};
  MLIRContext *context = tensor.getContext();
  ArrayRef<int64_t> shape = attr.getType().getShape();
  auto values = attr.getValues<APInt>();
  auto at = [&](uint64_t position) -> int64_t {
    return (*(values.begin() + position)).getSExtValue();
  };
  int64_t start = at(0);
  AffineExpr expr = getAffineConstantExpr(start, context);
  if (attr.isSplat())
    return expr;

  SmallVector<int64_t> steps = computeStrides(shape), strides;
  for (auto [coord, size, step] : llvm::zip_equal(coords, shape, steps)) {
    strides.push_back(size == 1 ? 0 : at(step) - start);
    expr = expr + coord * strides.back();
  }
  for (int64_t i = 0, e = attr.getNumElements(); i < e; ++i) {
    int64_t value = start;
    for (auto [index, stride] : llvm::zip(delinearize(i, steps), strides))
      value += index * stride;
    if (at(i) != value)
      return {};
  }
  return expr;
}

AffineExpr IndexAnalysis::evaluate(Value value, Coords coords) {
  if (!isa<RankedTensorType>(value.getType()))
    return evaluateScalar(value);
  for (auto &[access, expr] : evaluated[value])
    if (Coords(access.coords) == coords)
      return expr;
  AffineExpr expr = evaluateTensor(value, coords);
  // SX3: arithmetic that is rejected is no root.
  if (!expr && !rejection)
    expr = addRoot(value, coords);
  // What is only tried may be rejected, and looked at again.
  if (!rejection)
    evaluated[value].push_back({{value, llvm::to_vector(coords)}, expr});
  return expr;
}

AffineExpr IndexAnalysis::evaluateTensor(Value tensor, Coords coords) {
  if (AffineExpr progression = getProgression(tensor, coords))
    return progression;
  Operation *def = tensor.getDefiningOp();
  if (!def)
    return {};
  if (auto source =
          getMovedFrom({tensor, llvm::to_vector(coords)}, grid.getSplit())) {
    for (AffineExpr &coord : source->coords)
      coord = simplify(coord);
    return evaluate(source->tensor, source->coords);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(def))
    return evaluateScalar(splat.getInput());
  if (isa<tensor::GenerateOp>(def))
    return evaluateGenerate(def, coords);
  if (auto structured = dyn_cast<linalg::LinalgOp>(def))
    return evaluateStructured(structured, coords);
  return evaluateArithmetic(def, coords);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

AffineExpr IndexAnalysis::evaluateBody(Value result,
                                       DenseMap<Value, AffineExpr> known) {
  std::swap(scalars, known);
  AffineExpr expr = evaluateScalar(result);
  std::swap(scalars, known);
  return expr;
}

AffineExpr IndexAnalysis::evaluateGenerate(Operation *op, Coords coords) {
  Block &body = op->getRegion(0).front();
  DenseMap<Value, AffineExpr> known;
  for (auto [argument, coord] : llvm::zip(body.getArguments(), coords))
    known[argument] = coord;
  return evaluateBody(body.getTerminator()->getOperand(0), std::move(known));
}

AffineExpr IndexAnalysis::evaluateStructured(linalg::LinalgOp op,
                                             Coords coords) {
  std::optional<SmallVector<AffineExpr>> loops = getLoopCoords(op, coords);
  if (!loops)
    return {};
  DenseMap<Value, AffineExpr> known;
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    known[index] = (*loops)[index.getDim()];
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty() || !argument.getType().isIntOrIndex())
      continue;
    ElementAccess access = getOperandAccess(*input, *loops);
    for (AffineExpr &coord : access.coords)
      coord = simplify(coord);
    known[argument] = evaluate(access.tensor, access.coords);
    if (rejection)
      return {};
  }
  return evaluateBody(op.getBlock()->getTerminator()->getOperand(0),
                      std::move(known));
}

AffineExpr IndexAnalysis::evaluateScalar(Value scalar) {
  if (auto it = scalars.find(scalar); it != scalars.end())
    return it->second;
  AffineExpr expr;
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    expr = getAffineConstantExpr(constant.getSExtValue(), scalar.getContext());
  else if (Operation *def = scalar.getDefiningOp())
    expr = isa<tensor::ExtractOp>(def) ? evaluateExtract(def)
                                       : evaluateArithmetic(def, {});
  if (!rejection)
    scalars[scalar] = expr;
  return expr;
}

/// An element of a tensor. Only of a constant it may be any: what is read at
/// grid coordinates might be longer than the grid, and would be no root.
AffineExpr IndexAnalysis::evaluateExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  ArrayRef<int64_t> shape = extract.getTensor().getType().getShape();
  bool isConstant = matchPattern(extract.getTensor(), m_Constant());
  SmallVector<AffineExpr> coords;
  for (auto [index, size] : llvm::zip_equal(extract.getIndices(), shape)) {
    AffineExpr coord = simplify(evaluateScalar(index));
    if (!coord)
      return {};
    coords.push_back(coord);
    auto dim = dyn_cast<AffineDimExpr>(coord);
    bool isWhole = size == 1 || (dim && !ShapedType::isDynamic(size) &&
                                 dim.getPosition() < grid.getRank() &&
                                 grid.getShape()[dim.getPosition()] == size);
    if (!isConstant && !isWhole)
      return {};
  }
  return evaluate(extract.getTensor(), coords);
}
