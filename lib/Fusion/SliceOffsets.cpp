//===- SliceOffsets.cpp - Offsets into a pool as arguments ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the caches of all layers lie in one pool, what tells the layers apart
// are constant offsets. They become arguments of the outlined function, so that
// all layers share one. Of the slices of a group, offsets in one dimension
// become the least of them, an argument, plus constants: that the slices are
// disjoint can still be seen. A dimension that the slices of a group cover from
// end to end, such as the one that selects K or V, tells no layers apart, and
// its offsets stay as they are.
//
//===----------------------------------------------------------------------===//

#include "Outliner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
/// The slices that a site takes out of one pool, and puts back.
struct PoolSlices {
  SmallVector<tensor::ExtractSliceOp> taken;
  SmallVector<tensor::InsertSliceOp> putBack;
};
} // namespace

static SmallVector<PoolSlices> collectPools(Site &site) {
  llvm::MapVector<Value, PoolSlices> pools;
  DenseMap<Value, Value> poolOf;
  auto getPool = [&](Value version) {
    auto known = poolOf.find(version);
    return known == poolOf.end() ? version : known->second;
  };
  for (Operation *op : site.body) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      pools[getPool(slice.getSource())].taken.push_back(slice);
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      Value pool = getPool(insert.getDest());
      pools[pool].putBack.push_back(insert);
      poolOf[insert.getResult()] = pool;
    }
  }
  return llvm::to_vector(llvm::make_second_range(pools));
}

/// The least offset of `slices` in dimension `dim`, if it may tell layers
/// apart: offsets and sizes are constant, and the slices do not cover the
/// dimension.
static std::optional<int64_t> getLeastOffset(PoolSlices &slices, unsigned dim) {
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (tensor::ExtractSliceOp slice : slices.taken) {
    if (slice.isDynamicOffset(dim) || slice.isDynamicSize(dim) ||
        slice.getStaticStride(dim) != 1)
      return std::nullopt;
    int64_t offset = slice.getStaticOffset(dim);
    ranges.emplace_back(offset, offset + slice.getStaticSize(dim));
  }
  llvm::sort(ranges);
  int64_t covered = 0;
  for (auto [begin, end] : ranges)
    if (begin <= covered)
      covered = std::max(covered, end);
  tensor::ExtractSliceOp slice = slices.taken.front();
  if (covered == slice.getSourceType().getDimSize(dim))
    return std::nullopt;
  return ranges.front().first;
}

/// Gives the slices of `ops` the offsets `offsets` in dimension `dim`, by the
/// constants that they are now.
template <typename OpT>
static void setOffsets(MutableArrayRef<OpT> ops, unsigned dim,
                       llvm::function_ref<Value(int64_t)> getOffset) {
  for (OpT op : ops) {
    Value offset = getOffset(op.getStaticOffset(dim));
    unsigned place = llvm::count_if(op.getStaticOffsets().take_front(dim),
                                    ShapedType::isDynamic);
    SmallVector<int64_t> offsets(op.getStaticOffsets());
    offsets[dim] = ShapedType::kDynamic;
    op.setStaticOffsets(offsets);
    MutableOperandRange operands = op.getOffsetsMutable();
    SmallVector<Value> values(op.getOffsets());
    values.insert(values.begin() + place, offset);
    operands.assign(values);
  }
}

void kvfuse::passOffsets(Site &site) {
  OpBuilder builder(site.body.front());
  SmallVector<PoolSlices> pools = collectPools(site);
  SmallVector<Operation *> added;
  for (PoolSlices &slices : pools)
    for (unsigned dim = 0; dim < slices.taken.front().getSourceType().getRank();
         ++dim) {
      std::optional<int64_t> least = getLeastOffset(slices, dim);
      if (!least)
        continue;
      Location loc = slices.taken.front().getLoc();
      Value argument = arith::ConstantIndexOp::create(builder, loc, *least);
      DenseMap<int64_t, Value> offsets = {{*least, argument}};
      auto getOffset = [&](int64_t offset) {
        Value &value = offsets[offset];
        if (!value) {
          auto delta =
              arith::ConstantIndexOp::create(builder, loc, offset - *least);
          auto sum = arith::AddIOp::create(builder, loc, argument, delta);
          added.append({delta, sum});
          value = sum;
        }
        return value;
      };
      setOffsets<tensor::ExtractSliceOp>(slices.taken, dim, getOffset);
      setOffsets<tensor::InsertSliceOp>(slices.putBack, dim, getOffset);
    }
  site.body.insert(site.body.begin(), added.begin(), added.end());
}
