//===- Slices.cpp - Slices of caches and of pools -------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slices.h"

#include "Caches.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// Writes and insertions keep the shape: the value that `version` has it from.
static Value getShapeSource(Value version) {
  while (Operation *def = version.getDefiningOp()) {
    if (auto write = dyn_cast<WriteOp>(def))
      version = write.getDests()[cast<OpResult>(version).getResultNumber()];
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(def))
      version = insert.getDest();
    else
      break;
  }
  return version;
}

/// Are two numbers the same, if not by name then as sizes of versions of one
/// cache, or as results of the same operation on the same operands?
static bool isSameNumber(OpFoldResult lhs, OpFoldResult rhs) {
  if (isEqualConstantIntOrValue(lhs, rhs))
    return true;
  auto getDef = [](OpFoldResult number) {
    auto value = dyn_cast<Value>(number);
    return value ? value.getDefiningOp() : nullptr;
  };
  Operation *one = getDef(lhs), *other = getDef(rhs);
  if (!one || !other)
    return false;
  auto dim = dyn_cast<tensor::DimOp>(one);
  auto otherDim = dyn_cast<tensor::DimOp>(other);
  if (dim && otherDim)
    return dim.getConstantIndex() &&
           dim.getConstantIndex() == otherDim.getConstantIndex() &&
           getShapeSource(dim.getSource()) ==
               getShapeSource(otherDim.getSource());
  return isPure(one) && OperationEquivalence::isEquivalentTo(
                            one, other, OperationEquivalence::IgnoreLocations);
}

static bool isSame(OffsetSizeAndStrideOpInterface lhs,
                   OffsetSizeAndStrideOpInterface rhs) {
  return lhs.isSameAs(rhs, isSameNumber);
}

bool kvfuse::isSameSlice(tensor::ExtractSliceOp extract,
                         tensor::InsertSliceOp insert) {
  return extract.getType() == insert.getSourceType() && isSame(extract, insert);
}

bool kvfuse::isSameSlice(tensor::ExtractSliceOp lhs,
                         tensor::ExtractSliceOp rhs) {
  return lhs.getType() == rhs.getType() && isSame(lhs, rhs);
}

namespace {
/// The numbers of a slice, dynamic ones included.
struct Numbers {
  template <typename OpT>
  explicit Numbers(OpT op)
      : offsets(op.getStaticOffsets()), sizes(op.getStaticSizes()),
        strides(op.getStaticStrides()) {}

  bool isStatic(unsigned dim) const {
    return ShapedType::isStatic(offsets[dim]) &&
           ShapedType::isStatic(sizes[dim]) && strides[dim] == 1;
  }
  bool isStatic() const {
    return llvm::all_of(llvm::seq<unsigned>(0, offsets.size()),
                        [&](unsigned dim) { return isStatic(dim); });
  }
  int64_t getEnd(unsigned dim) const { return offsets[dim] + sizes[dim]; }

  ArrayRef<int64_t> offsets, sizes, strides;
};
} // namespace

/// Are two slices disjoint by their numbers alone? That is cheap, and the
/// common case.
static bool areApart(const Numbers &lhs, const Numbers &rhs) {
  for (unsigned dim = 0, rank = lhs.offsets.size(); dim < rank; ++dim)
    if (lhs.isStatic(dim) && rhs.isStatic(dim) &&
        (lhs.getEnd(dim) <= rhs.offsets[dim] ||
         rhs.getEnd(dim) <= lhs.offsets[dim]))
      return true;
  return false;
}

template <typename LhsT, typename RhsT>
static bool areDisjoint(LhsT lhs, RhsT rhs) {
  Numbers one(lhs), other(rhs);
  if (one.offsets.size() != other.offsets.size())
    return false;
  if (areApart(one, other))
    return true;
  if ((one.isStatic() && other.isStatic()) || isSame(lhs, rhs))
    return false;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      lhs->getContext(), HyperrectangularSlice(lhs),
      HyperrectangularSlice(rhs));
  return succeeded(overlap) && !*overlap;
}

bool kvfuse::areDisjointSlices(tensor::ExtractSliceOp lhs,
                               tensor::ExtractSliceOp rhs) {
  return areDisjoint(lhs, rhs);
}

bool kvfuse::areDisjointSlices(tensor::ExtractSliceOp slice,
                               tensor::InsertSliceOp insert) {
  return areDisjoint(slice, insert);
}

bool kvfuse::isOverlapDynamic(tensor::ExtractSliceOp lhs,
                              tensor::ExtractSliceOp rhs) {
  SmallVector<OpFoldResult> ones = lhs.getMixedOffsets(),
                            others = rhs.getMixedOffsets();
  if (ones.size() != others.size())
    return false;
  // Two that begin at one place meet, whatever their sizes are.
  return llvm::any_of(
      llvm::zip_equal(ones, others, lhs.getMixedSizes(), rhs.getMixedSizes()),
      [](auto numbers) {
        auto [one, other, size, otherSize] = numbers;
        return one != other &&
               llvm::any_of(ArrayRef<OpFoldResult>{one, other, size, otherSize},
                            llvm::IsaPred<Value>);
      });
}

/// The value that `version` is made from by writes and type casts, around loops
/// and in branches, but no further back than `root`.
static Value getOrigin(Value version, Value root = {}) {
  while ((version = stripTypeCasts(version)) != root) {
    if (auto argument = dyn_cast<BlockArgument>(version)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument == loop.getInductionVar() ||
          getOrigin(loop.getTiedLoopYieldedValue(argument)->get(), argument) !=
              argument)
        break;
      version = loop.getTiedLoopInit(argument)->get();
      continue;
    }
    Operation *def = version.getDefiningOp();
    unsigned number = cast<OpResult>(version).getResultNumber();
    if (auto write = dyn_cast<WriteOp>(def)) {
      version = write.getDests()[number];
    } else if (auto loop = dyn_cast<scf::ForOp>(def)) {
      BlockArgument argument = loop.getRegionIterArg(number);
      Value origin = getOrigin(argument, root);
      return origin == argument ? version : origin;
    } else if (auto branch = dyn_cast<scf::IfOp>(def)) {
      Value one = getOrigin(branch.thenYield().getOperand(number), root);
      Value other = getOrigin(branch.elseYield().getOperand(number), root);
      return one == other ? one : version;
    } else {
      break;
    }
  }
  return version;
}

/// The slice that `version` is a version of, or null.
static tensor::ExtractSliceOp getSlice(Value version) {
  return getOrigin(version).getDefiningOp<tensor::ExtractSliceOp>();
}

tensor::ExtractSliceOp kvfuse::getSlice(WriteOp write, unsigned i) {
  return ::getSlice(write.getDests()[i]);
}

tensor::ExtractSliceOp kvfuse::getWrittenSlice(tensor::InsertSliceOp insert) {
  tensor::ExtractSliceOp slice = ::getSlice(insert.getSource());
  if (!slice || slice == insert.getSource().getDefiningOp() ||
      !isSameSlice(slice, insert))
    return {};
  return slice;
}

tensor::InsertSliceOp kvfuse::getWriteBack(WriteOp write, unsigned i) {
  for (OpOperand &use : write.getResults()[i].getUses()) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (!insert || insert.getSource() != use.get())
      continue;
    tensor::ExtractSliceOp slice = getWrittenSlice(insert);
    if (slice && slice.getSource() == insert.getDest())
      return insert;
  }
  return {};
}

SmallVector<Operation *> kvfuse::getWithSlices(WriteOp write) {
  SmallVector<Operation *> unit = {write};
  // A slice that somebody else uses too is not a part of the write.
  for (Operation *op = write->getPrevNode();; op = op->getPrevNode()) {
    auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
    if (!slice || !slice->hasOneUse() ||
        !llvm::is_contained(write.getDests(), slice.getResult()))
      break;
    unit.insert(unit.begin(), slice);
  }
  for (Operation *op = write->getNextNode();; op = op->getNextNode()) {
    auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op);
    if (!insert || llvm::none_of(write.getResults(), [&](OpResult result) {
          return getWriteBack(write, result.getResultNumber()) == insert;
        }))
      break;
    unit.push_back(insert);
  }
  return unit;
}

void kvfuse::readNewestVersion(tensor::InsertSliceOp insert,
                               DominanceInfo &dominance) {
  OpBuilder builder(insert->getContext());
  builder.setInsertionPointAfter(insert);
  for (Operation *user :
       llvm::make_early_inc_range(insert.getDest().getUsers())) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !areDisjointSlices(slice, insert))
      continue;
    auto isAfter = [&](OpOperand &use) {
      return dominance.properlyDominates(insert.getOperation(), use.getOwner());
    };
    if (dominance.properlyDominates(insert.getOperation(), slice)) {
      slice.getSourceMutable().assign(insert.getResult());
    } else if (llvm::any_of(slice->getUses(), isAfter)) {
      auto newest = cast<tensor::ExtractSliceOp>(builder.clone(*slice));
      newest.getSourceMutable().assign(insert.getResult());
      slice.getResult().replaceUsesWithIf(newest.getResult(), isAfter);
    }
  }
}
