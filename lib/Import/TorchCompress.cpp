//===- TorchCompress.cpp - Rows and indices picked by one mask ------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchConversions.h"
#include "TorchRowWrite.h"
#include "TorchShapes.h"
#include "TorchTypes.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

bool torch::isEquivalent(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  auto left = dyn_cast<OpResult>(lhs), right = dyn_cast<OpResult>(rhs);
  return left && right && left.getResultNumber() == right.getResultNumber() &&
         isPure(left.getOwner()) &&
         OperationEquivalence::isEquivalentTo(
             left.getOwner(), right.getOwner(),
             [](Value l, Value r) { return success(isEquivalent(l, r)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

//===----------------------------------------------------------------------===//
// x[mask]
//===----------------------------------------------------------------------===//

namespace {
/// x[..., mask, ...]: along the dimensions of `mask`, from `dim` on, what it
/// picks.
struct Picking {
  Value mask;
  int64_t dim;
};
} // namespace

static std::optional<Picking> readPicking(Operation *op) {
  if (op->getNumOperands() != 2 || !getElementType(op->getOperand(0)))
    return std::nullopt;
  std::optional<OperandRange> list = readList(op->getOperand(1));
  if (!list)
    return std::nullopt;
  std::optional<Picking> picking;
  for (auto [dim, index] : llvm::enumerate(*list)) {
    if (isNone(index))
      continue;
    Type element = getElementType(index);
    if (picking || !element || !element.isSignlessInteger(1))
      return std::nullopt;
    picking = Picking{index, static_cast<int64_t>(dim)};
  }
  return picking;
}

/// Collapses the dimensions of `tensor` from `dim` on that a mask of rank
/// `rank` has.
static Value collapseDims(OpBuilder &builder, Location loc, Value tensor,
                          int64_t dim, int64_t rank) {
  if (rank == 1)
    return tensor;
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < cast<RankedTensorType>(tensor.getType()).getRank();
       ++d) {
    if (d <= dim || d >= dim + rank)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

/// x[mask] -> x, of which the mask picks.
/// x[m][n] -> x, of which m and n pick; n is as long as what m picks.
static Value convertPicking(ChainConverter &chain, Operation *op) {
  std::optional<Picking> picking = readPicking(op);
  if (!picking)
    return {};
  int64_t rank = readTensorType(picking->mask.getType()).getRank();
  if (rank < 1)
    return {};
  Value input = op->getOperand(0);
  Value whole = chain.convertWhole(input);
  Value mask = chain.convertWhole(picking->mask);
  const Compression *outer = chain.getCompression(input);
  const Compression *ofMask = chain.getCompression(picking->mask);
  if (static_cast<bool>(outer) != static_cast<bool>(ofMask))
    return {};
  Location loc = op->getLoc();
  OpBuilder &builder = chain.getBuilderAt(op);
  if (outer) {
    if (rank != 1 || outer->dim != picking->dim ||
        !isEquivalent(outer->mask, ofMask->mask))
      return {};
    mask = arith::AndIOp::create(builder, loc, outer->mask, mask);
  }
  chain.setCompression(
      op->getResult(0),
      {collapseDims(builder, loc, mask, 0, rank), picking->dim, op});
  return collapseDims(builder, loc, whole, picking->dim, rank);
}

Conversion torch::getCompressConversion(StringRef name) {
  return llvm::StringSwitch<Conversion>(name)
      .Cases({"torch.aten.index.Tensor", "torch.aten.index.Tensor_hacked_twin"},
             convertPicking)
      .Default(nullptr);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

namespace {
/// The picking along the dimensions of the token grid.
struct GridCompression {
  const Compression *compression = nullptr;
  unsigned gridDim = 0;
  /// The operation that picks something else, if there is one.
  Operation *conflict = nullptr;
};
} // namespace

/// The dimension of the token grid that dimension `dim` of `index` goes along,
/// if `index` has such a dimension.
static std::optional<unsigned> getGridDim(const RowWrite &write, Value index,
                                          int64_t dim) {
  const llvm::SmallBitVector &dropped = write.droppedIndexDims;
  int64_t fullRank = write.grid.size() + dropped.count();
  unsigned fullDim = fullRank - readTensorType(index.getType()).getRank() + dim;
  if (fullDim < dropped.size() && dropped[fullDim])
    return std::nullopt;
  unsigned gridDim = fullDim;
  for (unsigned d : dropped.set_bits())
    gridDim -= d < fullDim;
  return gridDim;
}

/// Does `index` vary along dimension `gridDim` of the token grid?
static bool variesAlong(const RowWrite &write, Value index, unsigned gridDim) {
  RankedTensorType type = readTensorType(index.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (getGridDim(write, index, dim) == gridDim)
      return type.getDimSize(dim) != 1;
  return false;
}

/// What picks the tokens of `write`, whose indices are converted.
static GridCompression getGridCompression(const ChainConverter &chain,
                                          const RowWrite &write) {
  GridCompression result;
  for (Value index : write.indices) {
    const Compression *own = chain.getCompression(index);
    if (!own)
      continue;
    std::optional<unsigned> gridDim = getGridDim(write, index, own->dim);
    if (!gridDim)
      result.conflict = own->cause;
    else if (!result.compression)
      result = {own, *gridDim, result.conflict};
    else if (*gridDim != result.gridDim ||
             !isEquivalent(own->mask, result.compression->mask))
      result.conflict = own->cause;
  }
  for (Value index : write.indices)
    if (result.compression && !chain.getCompression(index) &&
        variesAlong(write, index, result.gridDim))
      result.conflict = result.compression->cause;
  return result;
}

/// The dimension of the values of `write` that goes along dimension `gridDim`
/// of the token grid.
static std::optional<int64_t> getValueDim(const RowWrite &write,
                                          unsigned gridDim) {
  unsigned result = 0;
  for (unsigned dim = 0; dim < write.repeatedDims.size(); ++dim) {
    if (write.repeatedDims[dim])
      continue;
    if (write.order.getDimPosition(result++) == gridDim)
      return dim;
  }
  return std::nullopt;
}

LogicalResult ChainConverter::checkCompression(const RowWrite &write,
                                               Operation *op) {
  for (Value index : write.indices)
    convertWhole(index);
  convertWhole(write.values);
  GridCompression grid = getGridCompression(*this, write);
  const Compression *rows = getCompression(write.values);
  auto refuse = [&](const Twine &found, Operation *cause) {
    emitRefusal(op, Refusal::DataDependent, found,
                "pick indices and rows by one and the same mask",
                cause->getLoc());
    return failure();
  };
  if (grid.conflict)
    return refuse("indices are not all picked by the same mask", grid.conflict);
  if (!grid.compression && !rows)
    return success();
  if (!grid.compression)
    return refuse("rows are picked by a mask, and indices are not",
                  rows->cause);
  std::optional<int64_t> valueDim = getValueDim(write, grid.gridDim);
  if (!rows && !valueDim)
    return success();
  if (!rows)
    return refuse("indices are picked by a mask, and rows are not",
                  grid.compression->cause);
  if (valueDim != rows->dim ||
      !isEquivalent(rows->mask, grid.compression->mask))
    return refuse("indices and rows are picked by different masks",
                  rows->cause);
  return success();
}

/// What picks the tokens, as a tensor of the shape of `grid`.
Value ChainConverter::getPickingMask(const RowWrite &write, Value grid,
                                     Operation *op) {
  GridCompression picking = getGridCompression(*this, write);
  if (!picking.compression)
    return {};
  Value mask = picking.compression->mask;
  unsigned rank = cast<RankedTensorType>(grid.getType()).getRank();
  if (rank == 1)
    return mask;
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  SmallVector<int64_t> others;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != picking.gridDim)
      others.push_back(dim);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, grid),
      builder.getI1Type());
  return linalg::BroadcastOp::create(builder, loc, mask, init, others)
      .getResult()[0];
}
