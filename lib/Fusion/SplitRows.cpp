//===- SplitRows.cpp - Rows before they are flattened ---------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitRows.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kvfuse;

/// The reshape that flattens the rows, if it is of a tensor of any strides.
static tensor::CollapseShapeOp getCollapse(const FusedDest &dest) {
  auto collapse =
      dest.values.source.tensor.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || !dest.values.reshapes.empty())
    return {};
  Operation *def = collapse.getSrc().getDefiningOp();
  return !def || isa<tensor::ExtractSliceOp>(def) ? collapse
                                                  : tensor::CollapseShapeOp();
}

/// Must rows of coordinate `row` cover a dimension of `cache` whose size is not
/// known to be `size`?
static bool mustCover(AffineMap map, AffineExpr row, ShapedType cache,
                      int64_t size) {
  return llvm::any_of(llvm::zip_equal(map.getResults(), cache.getShape()),
                      [&](auto result) {
                        auto [expr, cacheSize] = result;
                        return expr == row && cacheSize != size;
                      });
}

namespace {
/// The sizes of the coordinates that each row coordinate becomes; one, of any
/// size, if it stays.
using Parts = SmallVector<SmallVector<int64_t>>;
} // namespace

/// What the rows of `dest` become before `collapse`; nothing if they cannot.
static std::optional<Parts> getParts(const FusedDest &dest,
                                     tensor::CollapseShapeOp collapse,
                                     unsigned numTokens, unsigned numRoots,
                                     ShapedType cache) {
  Parts parts(dest.order.getNumDims() - numTokens, {1});
  unsigned result = 0;
  for (auto [dim, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    if (dest.dropped.test(dim))
      continue;
    unsigned position = dest.order.getDimPosition(result++);
    SmallVector<int64_t> sizes =
        getNonUnitSizes(collapse.getSrcType().getShape(), group);
    if (sizes.size() < 2)
      continue;
    AffineExpr inMap =
        getAffineDimExpr(position + numRoots, collapse.getContext());
    if (position < numTokens || llvm::any_of(sizes, ShapedType::isDynamic) ||
        mustCover(dest.map, inMap, cache, llvm::product_of(sizes)))
      return std::nullopt;
    parts[position - numTokens] = sizes;
  }
  return parts;
}

void kvfuse::splitCollapsedRows(FusedDest &dest, unsigned numTokens,
                                unsigned numRoots, ShapedType cache) {
  tensor::CollapseShapeOp collapse = getCollapse(dest);
  if (!collapse)
    return;
  std::optional<Parts> parts =
      getParts(dest, collapse, numTokens, numRoots, cache);
  if (!parts)
    return;

  // The old coordinates in the new ones, and the numbers of those in the order.
  MLIRContext *context = collapse.getContext();
  unsigned numPrefix = numTokens + numRoots, numRows = 0;
  SmallVector<AffineExpr> dims;
  SmallVector<unsigned> firstPart;
  for (unsigned dim = 0; dim < numPrefix; ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  for (unsigned token = 0; token < numTokens; ++token)
    firstPart.push_back(token);
  for (ArrayRef<int64_t> sizes : *parts) {
    firstPart.push_back(numTokens + numRows);
    AffineExpr old = getAffineConstantExpr(0, context);
    for (int64_t size : sizes)
      old = old * size + getAffineDimExpr(numPrefix + numRows++, context);
    dims.push_back(old);
  }

  SmallVector<AffineExpr> order;
  ArrayRef<int64_t> source = collapse.getSrcType().getShape();
  llvm::SmallBitVector dropped(source.size());
  unsigned result = 0;
  for (auto [dim, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    bool isDropped = dest.dropped.test(dim);
    unsigned part =
        isDropped ? 0 : firstPart[dest.order.getDimPosition(result++)];
    // Of dimensions of size 1 alone, the last is that of the result.
    bool isUnit = getNonUnitSizes(source, group).empty();
    for (int64_t from : group) {
      bool isOnlyUnit = isUnit && from == group.back();
      dropped[from] = isDropped || (source[from] == 1 && !isOnlyUnit);
      if (!dropped[from])
        order.push_back(getAffineDimExpr(part++, context));
    }
  }
  SmallVector<AffineExpr> coords;
  for (AffineExpr expr : dest.map.getResults())
    coords.push_back(expr.replaceDims(dims));
  dest.map = AffineMap::get(numPrefix + numRows, 0, coords, context);
  dest.order = AffineMap::get(numTokens + numRows, 0, order, context);
  dest.dropped = dropped;
  dest.values.source.tensor = collapse.getSrc();
}
