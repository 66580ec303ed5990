//===- TorchIndexCopy.cpp - What index_copy and scatter write where -------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both take one index tensor for one dimension, and no negative index (SX4).
//
//===----------------------------------------------------------------------===//

#include "TorchRowWrite.h"

#include "TorchTypes.h"
#include "kvfuse/Remarks/Refusal.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

static LogicalResult refuse(Operation *op, const Twine &found,
                            const Twine &suggest = "") {
  emitRefusal(op, Refusal::IndexUnknown, found, suggest);
  return failure();
}

/// `op(cache, dim, index, values)`: the cache, the values and dimension `dim`.
static FailureOr<unsigned> readOperands(Operation *op, RowWrite &write) {
  if (op->getNumOperands() != 4 || op->getNumResults() != 1) {
    emitRefusal(op, Refusal::OpaqueOp,
                getTorchName(op) + " has " + Twine(op->getNumOperands()) +
                    " operands instead of 4");
    return failure();
  }
  if (failed(readCacheAndValues(op, write, /*cache=*/0, /*values=*/3)))
    return failure();
  int64_t rank = readTensorType(write.cache.getType()).getRank();
  std::optional<int64_t> dim = readInt(op->getOperand(1));
  if (dim && *dim < 0)
    *dim += rank;
  if (!dim || *dim < 0 || *dim >= rank)
    return refuse(op, "the indexed dimension is no constant");
  if (readTensorType(write.values.getType()).getRank() != rank)
    return refuse(op, "rows of " + toText(write.values.getType()) +
                          " for a cache of " + toText(write.cache.getType()));
  write.negative = kv::NegativePolicy::error;
  write.repeatedDims.resize(rank);
  if (failed(checkIndexType(op, op->getOperand(2), *dim)))
    return failure();
  return static_cast<unsigned>(*dim);
}

/// Is a dimension of size `part` one of size `whole`, as far as types tell?
static bool mayBeEqual(int64_t part, int64_t whole) {
  return part == whole || ShapedType::isDynamic(part) ||
         ShapedType::isDynamic(whole);
}

/// index_copy(cache, dim, index, values): cache[.., index[t], ..] = values[..,
/// t, ..], all else are rows.
FailureOr<RowWrite> torch::readIndexCopy(Operation *op) {
  RowWrite write;
  FailureOr<unsigned> dim = readOperands(op, write);
  if (failed(dim))
    return failure();
  Value index = op->getOperand(2);
  RankedTensorType cache = readTensorType(write.cache.getType());
  RankedTensorType values = readTensorType(write.values.getType());
  RankedTensorType grid = readTensorType(index.getType());
  if (grid.getRank() != 1)
    return refuse(op, "the index " + toText(index.getType()) + " has no rank 1",
                  "index by tensors of rank 1");
  for (int64_t d = 0; d < cache.getRank(); ++d)
    if (!mayBeEqual(values.getDimSize(d),
                    d == *dim ? grid.getDimSize(0) : cache.getDimSize(d)))
      return refuse(op, "rows of " + toText(write.values.getType()) +
                            " for a cache of " + toText(write.cache.getType()));

  write.indices = {index};
  write.droppedIndexDims.resize(1);
  write.grid = {grid.getDimSize(0)};
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> coordinates, order;
  unsigned row = 0;
  for (int64_t d = 0; d < cache.getRank(); ++d) {
    // Grid 0, index 1, rows from 2 on; `order` knows no index.
    coordinates.push_back(getAffineDimExpr(d == *dim ? 1 : 2 + row, context));
    order.push_back(getAffineDimExpr(d == *dim ? 0 : 1 + row, context));
    row += d != *dim;
  }
  write.map = AffineMap::get(2 + row, 0, coordinates, context);
  write.order = AffineMap::get(1 + row, 0, order, context);
  return write;
}

/// What `index` repeats by expand: the index before, with its sizes aligned to
/// the right of `rank` dimensions.
static Value peelExpand(Value index, int64_t rank,
                        SmallVectorImpl<int64_t> &sizes) {
  auto isExpand = [](Operation *op) {
    if (!op || op->getNumOperands() < 1)
      return false;
    StringRef name = getTorchName(op);
    return (name == "torch.aten.expand" || name == "torch.aten.broadcast_to" ||
            name == "torch.aten.expand_as") &&
           readTensorType(op->getOperand(0).getType());
  };
  while (isExpand(index.getDefiningOp()))
    index = index.getDefiningOp()->getOperand(0);
  RankedTensorType type = readTensorType(index.getType());
  sizes.assign(rank - type.getRank(), 1);
  llvm::append_range(sizes, type.getShape());
  return index;
}

/// scatter(cache, dim, index, values): for each element of `index`, which has
/// the rank of the cache, cache[i, .., index[i, .., t, .., j], .., j] =
/// values[i, .., t, .., j]. Along dimensions where the index is repeated there
/// are rows; the others, and always `dim`, are the grid.
FailureOr<RowWrite> torch::readScatter(Operation *op) {
  RowWrite write;
  FailureOr<unsigned> dim = readOperands(op, write);
  if (failed(dim))
    return failure();
  RankedTensorType cache = readTensorType(write.cache.getType());
  RankedTensorType values = readTensorType(write.values.getType());
  RankedTensorType whole = readTensorType(op->getOperand(2).getType());
  int64_t rank = cache.getRank();
  if (whole.getRank() != rank || whole.getShape() != values.getShape())
    return refuse(op,
                  "rows of " + toText(write.values.getType()) +
                      " for an index of " + toText(op->getOperand(2).getType()),
                  "scatter as many rows as there are indices");
  SmallVector<int64_t> sizes;
  Value index = peelExpand(op->getOperand(2), rank, sizes);
  if (sizes[*dim] != whole.getDimSize(*dim))
    return refuse(op, "the index is repeated along the dimension that it "
                      "indexes");

  SmallVector<unsigned> gridDims;
  for (int64_t d = 0; d < rank; ++d)
    if (d == *dim || sizes[d] != 1)
      gridDims.push_back(d);
  if (gridDims.size() > 4)
    return refuse(op, "an index of rank " + Twine(gridDims.size()),
                  "expand an index of the tokens");
  int64_t absent = rank - readTensorType(index.getType()).getRank();
  write.droppedIndexDims.resize(rank - absent);
  for (int64_t d = absent; d < rank; ++d)
    write.droppedIndexDims[d - absent] = !llvm::is_contained(gridDims, d);
  // `dim` may be one of the dimensions that the expand adds.
  if (*dim < absent)
    return refuse(op, "the index has no dimension of the tokens");
  write.indices = {index};
  for (unsigned d : gridDims)
    write.grid.push_back(whole.getDimSize(d));

  MLIRContext *context = op->getContext();
  unsigned gridRank = gridDims.size(), grid = 0, row = gridRank;
  SmallVector<AffineExpr> coordinates, order;
  for (int64_t d = 0; d < rank; ++d) {
    bool inGrid = llvm::is_contained(gridDims, d);
    unsigned coordinate = inGrid ? grid++ : row++;
    order.push_back(getAffineDimExpr(coordinate, context));
    if (d == *dim) {
      coordinates.push_back(getAffineDimExpr(gridRank, context));
      continue;
    }
    // Rows are behind the one index.
    coordinates.push_back(
        getAffineDimExpr(inGrid ? coordinate : coordinate + 1, context));
    if (whole.getDimSize(d) == cache.getDimSize(d) &&
        !ShapedType::isDynamic(cache.getDimSize(d)))
      continue;
    if (whole.isDynamicDim(d) || cache.isDynamicDim(d))
      return refuse(op,
                    "whether dimension " + Twine(d) +
                        " is scattered to as a whole is not known",
                    "export with static sizes of all but the tokens");
    write.isBox = true;
  }
  write.map = AffineMap::get(row + 1, 0, coordinates, context);
  write.order = AffineMap::get(row, 0, order, context);
  return write;
}
