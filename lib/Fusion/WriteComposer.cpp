//===- WriteComposer.cpp - Compose a chain into maps and orders -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteComposer.h"

#include "SplitRows.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

WriteComposer::WriteComposer(WriteOp write, const TokenGrid &grid,
                             const IndexAnalysis &analysis,
                             ArrayRef<AffineExpr> exprs,
                             const llvm::SmallBitVector &kept)
    : write(write), grid(grid), analysis(analysis), exprs(exprs), kept(kept),
      context(write.getContext()), gridRank(grid.getRank()),
      numRoots(analysis.getRoots().size()) {}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

WriteComposer::DimKind WriteComposer::getKind(unsigned dim) const {
  if (dim >= gridRank + numRoots)
    return DimKind::Row;
  if (dim >= gridRank)
    return DimKind::Root;
  if (kept.test(dim))
    return DimKind::Token;
  return grid.getShape()[dim] == 1 ? DimKind::Unit : DimKind::Demoted;
}

int64_t WriteComposer::getExtent(unsigned dim) const {
  if (dim < gridRank)
    return grid.getShape()[dim];
  WriteOp op = write;
  return op.getStaticRowExtent(dest, dim - gridRank - numRoots);
}

SmallVector<AffineExpr> WriteComposer::getGridCoords() const {
  SmallVector<AffineExpr> coords;
  for (unsigned dim = 0; dim < gridRank; ++dim)
    coords.push_back(getKind(dim) == DimKind::Unit
                         ? getAffineConstantExpr(0, context)
                         : getAffineDimExpr(dim, context));
  return coords;
}

ExprRanges WriteComposer::getRanges() const {
  ExprRanges ranges;
  for (int64_t size : grid.getShape())
    ranges.dims.push_back(getCoordinateRange(size));
  llvm::append_range(ranges.dims, analysis.getExprRanges().symbols);
  for (unsigned row = 0; row < rowRank; ++row)
    ranges.dims.push_back(
        getCoordinateRange(getExtent(gridRank + numRoots + row)));
  return ranges;
}

/// The dimension that `expr` is alone, if it is that of a row.
std::optional<unsigned> WriteComposer::getBareRow(AffineExpr expr) const {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || (getKind(dim.getPosition()) != DimKind::Demoted &&
               getKind(dim.getPosition()) != DimKind::Row))
    return std::nullopt;
  return dim.getPosition();
}

bool WriteComposer::usesDim(ArrayRef<AffineExpr> exprs, unsigned dim) {
  return llvm::any_of(
      exprs, [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// The map's results with the index values put in, not simplified.
SmallVector<AffineExpr> WriteComposer::substitute() const {
  WriteOp op = write;
  SmallVector<AffineExpr> coords = getGridCoords(), symbols, dims;
  // A coordinate in a dimension that is split has no other expression.
  if (grid.getSplit())
    coords.push_back(getAffineSymbolExpr(numRoots, context));
  for (unsigned root = 0; root < numRoots; ++root)
    symbols.push_back(getAffineDimExpr(gridRank + root, context));
  for (AffineExpr coord : grid.getCoords())
    dims.push_back(coord.replaceDims(coords));
  for (AffineExpr expr : exprs)
    dims.push_back(expr.replaceDimsAndSymbols(coords, symbols));
  for (unsigned row = 0; row < rowRank; ++row)
    dims.push_back(getAffineDimExpr(gridRank + numRoots + row, context));
  return llvm::map_to_vector(
      op.getMap(dest).getResults(),
      [&](AffineExpr expr) { return expr.replaceDims(dims); });
}

/// SX10: may the bare row coordinates among `results` cover the cache? Those
/// that composition has made need not: where it is not plain from static sizes
/// that they do, the destination becomes a box, with each coordinate tested.
/// But then what was to be covered before must be plain from static sizes.
bool WriteComposer::canCover(ArrayRef<AffineExpr> results, bool &box) const {
  WriteOp op = write;
  bool isProven = true, needsBox = false;
  for (auto [dim, expr] : llvm::enumerate(results)) {
    std::optional<unsigned> row = getBareRow(expr);
    if (!row)
      continue;
    int64_t extent = getExtent(*row);
    bool covers = !ShapedType::isDynamic(extent) &&
                  extent == op.getDestType(dest).getDimSize(dim);
    if (op.getBareRow(dest, dim))
      isProven &= covers;
    else
      needsBox |= !covers;
  }
  box = op.isBox(dest) || needsBox;
  return op.isBox(dest) || !needsBox || isProven;
}

/// The coordinates of the cache, simplified if that leaves each row coordinate
/// and its tests in place; nothing if they are none over these dimensions.
std::optional<SmallVector<AffineExpr>>
WriteComposer::composeMap(bool &box) const {
  SmallVector<AffineExpr> exact = substitute(), simple;
  ExprRanges ranges = getRanges();
  for (AffineExpr expr : exact) {
    // A coordinate in a dimension that is split is left.
    if (expr.isFunctionOfSymbol(numRoots))
      return std::nullopt;
    simple.push_back(simplifyByRanges(expr, ranges));
  }
  auto keepsRows = [&](ArrayRef<AffineExpr> results) {
    for (unsigned row = 0; row < rowRank; ++row)
      if (!usesDim(results, gridRank + numRoots + row))
        return false;
    return true;
  };
  for (ArrayRef<AffineExpr> results : {simple, exact})
    if (keepsRows(results) && canCover(results, box))
      return llvm::to_vector(results);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The values of the write, and the coordinates in them of a row's element.
ElementAccess WriteComposer::getValues() const {
  WriteOp op = write;
  ElementAccess values{op.getValues()[dest], {}};
  for (AffineExpr expr : op.getOrder(dest).getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    values.coords.push_back(
        dim < op.getGridRank()
            ? grid.getCoords()[dim]
            : getAffineDimExpr(gridRank + numRoots + dim - op.getGridRank(),
                               context));
  }
  return values;
}

/// SX10: may the values be the same along dimension `dim`, which those of the
/// write have? No size must go untested: a row takes its extent from the cache,
/// a token dimension from the index values.
bool WriteComposer::canLeaveOut(unsigned dim,
                                ArrayRef<AffineExpr> results) const {
  WriteOp op = write;
  int64_t extent = getExtent(dim);
  if (ShapedType::isDynamic(extent))
    return false;
  if (getKind(dim) == DimKind::Token)
    return true;
  auto bare = getAffineDimExpr(dim, context);
  if (llvm::count(results, bare) != 1)
    return false;
  auto *place = llvm::find(results, bare);
  return op.getDestType(dest).getDimSize(place - results.begin()) == extent;
}

/// Can rows be read from `values`, each coordinate being one of a token or a
/// row, where the coordinates of the cache are `results`?
bool WriteComposer::canRead(const ElementAccess &values,
                            ArrayRef<AffineExpr> results) const {
  llvm::SmallBitVector seen(gridRank + numRoots + rowRank);
  auto type = cast<RankedTensorType>(values.tensor.getType());
  for (auto [coord, size] : llvm::zip_equal(values.coords, type.getShape())) {
    auto expr = dyn_cast<AffineDimExpr>(coord);
    if (!expr || expr.getPosition() >= seen.size()) {
      if (size != 1)
        return false;
      continue;
    }
    unsigned dim = expr.getPosition();
    DimKind kind = getKind(dim);
    if (seen.test(dim) || kind == DimKind::Root ||
        (kind == DimKind::Unit && size != 1) ||
        (kind == DimKind::Demoted && size != getExtent(dim)))
      return false;
    seen.set(dim);
  }

  SmallVector<AffineExpr> before = getValues().coords;
  for (unsigned dim = 0; dim < seen.size(); ++dim) {
    DimKind kind = getKind(dim);
    if (kind == DimKind::Root || kind == DimKind::Unit)
      continue;
    bool isUsed = usesDim(results, dim);
    // Rows that go to one place are no row.
    if (kind == DimKind::Demoted && seen.test(dim) && !isUsed)
      return false;
    bool isNeeded = kind == DimKind::Demoted ? isUsed : usesDim(before, dim);
    if (isNeeded && !seen.test(dim) && !canLeaveOut(dim, results))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

std::optional<FusedDest> WriteComposer::compose(unsigned i) {
  dest = i;
  rowRank = write.getRowRank(i);
  bool box = false;
  std::optional<SmallVector<AffineExpr>> results = composeMap(box);
  if (!results)
    return std::nullopt;
  ExprRanges ranges = getRanges();
  // The coordinate in a split dimension has the number of a root.
  std::fill_n(ranges.dims.begin() + gridRank, numRoots,
              ConstantIntRanges::maxRange(64));
  ranges.dims.resize(std::max<size_t>(ranges.dims.size(), gridRank + 1),
                     ConstantIntRanges::maxRange(64));
  std::optional<PeeledValues> values = peelProducers(
      getValues(), grid.getSplit(), ranges,
      [&](const ElementAccess &access) { return canRead(access, *results); });
  if (!values)
    return std::nullopt;
  std::optional<Fault> fault = findFault(*results, *values);
  FusedDest fused = build(*results, std::move(*values));
  splitCollapsedRows(fused, kept.count(), numRoots, write.getDestType(i));
  fused.box = box;
  fused.fault = fault;
  return fused;
}

/// Numbers the coordinates as the write wants them.
FusedDest WriteComposer::build(ArrayRef<AffineExpr> results,
                               PeeledValues values) const {
  unsigned numDims = gridRank + numRoots + rowRank, numTokens = kept.count();
  SmallVector<AffineExpr> inMap(numDims, getAffineConstantExpr(0, context));
  SmallVector<AffineExpr> inOrder = inMap;
  unsigned token = 0, row = 0;
  for (unsigned dim = 0; dim < numDims; ++dim) {
    DimKind kind = getKind(dim);
    if (kind == DimKind::Token) {
      inMap[dim] = inOrder[dim] = getAffineDimExpr(token++, context);
    } else if (kind == DimKind::Root) {
      inMap[dim] = getAffineDimExpr(numTokens + dim - gridRank, context);
    } else if (kind == DimKind::Row || usesDim(results, dim)) {
      inMap[dim] = getAffineDimExpr(numTokens + numRoots + row, context);
      inOrder[dim] = getAffineDimExpr(numTokens + row++, context);
    }
  }

  FusedDest fused;
  SmallVector<AffineExpr> mapResults, orderResults;
  for (AffineExpr expr : results)
    mapResults.push_back(expr.replaceDims(inMap));
  for (AffineExpr coord : values.source.coords) {
    auto dim = dyn_cast<AffineDimExpr>(coord);
    bool isDropped = !dim || dim.getPosition() >= numDims ||
                     getKind(dim.getPosition()) == DimKind::Unit;
    fused.dropped.push_back(isDropped);
    if (!isDropped)
      orderResults.push_back(inOrder[dim.getPosition()]);
  }
  fused.map =
      AffineMap::get(numTokens + numRoots + row, 0, mapResults, context);
  fused.order = AffineMap::get(numTokens + row, 0, orderResults, context);
  fused.values = std::move(values);
  return fused;
}
