//===- TorchIndexPut.cpp - What an index_put writes where -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchRowWrite.h"

#include "TorchShapes.h"
#include "TorchTypes.h"
#include "kvfuse/Remarks/Refusal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

static LogicalResult refuse(Operation *op, Refusal refusal, const Twine &found,
                            const Twine &suggest = "") {
  emitRefusal(op, refusal, found, suggest);
  return failure();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Cache, values and the flag.
static LogicalResult readOperands(Operation *op, RowWrite &put) {
  if (op->getNumOperands() < 4 || op->getNumResults() != 1)
    return refuse(op, Refusal::OpaqueOp,
                  getTorchName(op) + " has " + Twine(op->getNumOperands()) +
                      " operands instead of 4");
  std::optional<bool> accumulates = readBool(op->getOperand(3));
  if (!accumulates || *accumulates)
    return refuse(op, Refusal::Accumulate,
                  accumulates ? "adds the rows to the cache"
                              : "whether rows are added is no constant",
                  "write with accumulate=False");
  return readCacheAndValues(op, put, /*cache=*/0, /*values=*/2);
}

static std::string printTypes(ValueRange values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os, [&](Value v) { os << v.getType(); });
  return text;
}

/// The index tensors, and in `dims` the dimensions that they index.
static LogicalResult readIndices(Operation *op, RowWrite &put,
                                 SmallVectorImpl<unsigned> &dims) {
  std::optional<OperandRange> list = readList(op->getOperand(1));
  unsigned rank = readTensorType(put.cache.getType()).getRank();
  if (!list)
    return refuse(op, Refusal::IndexUnknown,
                  "the list of indices is not put together here");
  if (list->size() > rank)
    return refuse(op, Refusal::IndexUnknown,
                  Twine(list->size()) + " indices for a cache of rank " +
                      Twine(rank));
  for (auto [dim, index] : llvm::enumerate(*list)) {
    if (isNone(index))
      continue;
    if (failed(checkIndexType(op, index, dim)))
      return failure();
    put.indices.push_back(index);
    dims.push_back(dim);
  }
  if (dims.empty())
    return refuse(op, Refusal::IndexUnknown, "no dimension is indexed");

  std::optional<SmallVector<int64_t>> grid = getCommonShape(put.indices);
  if (!grid)
    return refuse(op, Refusal::IndexUnknown,
                  "index tensors whose shapes do not fit: " +
                      printTypes(put.indices),
                  "index by tensors of one shape");
  if (grid->empty())
    return refuse(op, Refusal::IndexUnknown, "all index tensors are scalars",
                  "index by tensors of rank 1");
  put.grid = std::move(*grid);
  return success();
}

//===----------------------------------------------------------------------===//
// Where rows go
//===----------------------------------------------------------------------===//

/// (grid..., indices..., rows...) -> for each dimension of the cache its index,
/// or the next row coordinate.
static AffineMap getMap(MLIRContext *context, unsigned cacheRank,
                        unsigned gridRank, ArrayRef<unsigned> dims) {
  unsigned index = gridRank, row = gridRank + dims.size();
  SmallVector<AffineExpr> coordinates;
  for (unsigned dim = 0; dim < cacheRank; ++dim)
    coordinates.push_back(getAffineDimExpr(
        llvm::is_contained(dims, dim) ? index++ : row++, context));
  return AffineMap::get(row, 0, coordinates, context);
}

/// SX8: grid and row coordinates in the order of torch's indexing result. The
/// grid stands where the first index stands if the indexed dimensions are
/// adjacent, else first.
static SmallVector<unsigned> getTargetDims(unsigned gridRank, unsigned rowRank,
                                           ArrayRef<unsigned> dims) {
  bool adjacent = dims.back() - dims.front() + 1 == dims.size();
  unsigned rowsBefore = adjacent ? dims.front() : 0;
  SmallVector<unsigned> target;
  auto append = [&](unsigned begin, unsigned end) {
    llvm::append_range(target, llvm::seq(begin, end));
  };
  append(gridRank, gridRank + rowsBefore);
  append(0, gridRank);
  append(gridRank + rowsBefore, gridRank + rowRank);
  return target;
}

/// Sizes of grid and row coordinates.
static SmallVector<int64_t> getExtents(ArrayRef<int64_t> grid,
                                       RankedTensorType cache,
                                       ArrayRef<unsigned> dims) {
  SmallVector<int64_t> extents(grid);
  for (unsigned dim = 0; dim < cache.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      extents.push_back(cache.getDimSize(dim));
  return extents;
}

/// The order of the values' dimensions, by torch's broadcast: aligned at the
/// right, absent dimensions and those of size 1 are repeated.
static LogicalResult readOrder(Operation *op, RowWrite &put,
                               ArrayRef<unsigned> target,
                               ArrayRef<int64_t> extents) {
  MLIRContext *context = op->getContext();
  RankedTensorType values = readTensorType(put.values.getType());
  int64_t absent = static_cast<int64_t>(target.size()) - values.getRank();
  put.repeatedDims.resize(values.getRank());
  SmallVector<AffineExpr> order;
  for (int64_t dim = 0; absent >= 0 && dim < values.getRank(); ++dim) {
    unsigned coordinate = target[absent + dim];
    int64_t size = values.getDimSize(dim), extent = extents[coordinate];
    bool equal = size == extent || ShapedType::isDynamic(size) ||
                 (ShapedType::isDynamic(extent) && size != 1);
    if (!equal && size != 1)
      break;
    put.repeatedDims[dim] = !equal;
    if (equal)
      order.push_back(getAffineDimExpr(coordinate, context));
  }
  if (order.size() + put.repeatedDims.count() !=
      static_cast<size_t>(values.getRank())) {
    std::string sizes;
    llvm::raw_string_ostream os(sizes);
    llvm::interleaveComma(target, os, [&](unsigned coordinate) {
      if (ShapedType::isDynamic(extents[coordinate]))
        os << '?';
      else
        os << extents[coordinate];
    });
    return refuse(op, Refusal::IndexUnknown,
                  "rows of " + toText(put.values.getType()) + " where [" +
                      sizes + "] is indexed");
  }
  put.order = AffineMap::get(extents.size(), 0, order, context);
  return success();
}

FailureOr<RowWrite> torch::readIndexPut(Operation *op) {
  RowWrite put;
  SmallVector<unsigned> dims;
  if (failed(readOperands(op, put)) || failed(readIndices(op, put, dims)))
    return failure();
  RankedTensorType cache = readTensorType(put.cache.getType());
  unsigned gridRank = put.grid.size();
  put.map = getMap(op->getContext(), cache.getRank(), gridRank, dims);
  SmallVector<unsigned> target =
      getTargetDims(gridRank, cache.getRank() - dims.size(), dims);
  if (failed(readOrder(op, put, target, getExtents(put.grid, cache, dims))))
    return failure();
  return put;
}
