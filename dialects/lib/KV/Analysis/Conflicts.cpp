//===- Conflicts.cpp - What keeps writes from being one -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Analysis/Conflicts.h"

#include "kvfuse/Dialect/KV/Analysis/Disjoint.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::kv;

static Value stripCasts(Value memref) {
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  return memref;
}

/// Are shape, strides and offset all static?
static bool isStatic(Type type) {
  auto memref = cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  return memref.hasStaticShape() &&
         succeeded(memref.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

/// Would a test of the addresses of two memrefs, which are not proven to be
/// apart, always fail, or decide nothing that is not decided?
static bool isTestUseless(Value lhs, Value rhs) {
  lhs = stripCasts(lhs);
  rhs = stripCasts(rhs);
  if (lhs == rhs)
    return true;
  if (isStatic(lhs.getType()) && isStatic(rhs.getType()))
    return getPointerSource(lhs) == getPointerSource(rhs);
  auto slice = lhs.getDefiningOp<memref::SubViewOp>();
  auto other = rhs.getDefiningOp<memref::SubViewOp>();
  if (!slice || !other || slice.getSource() != other.getSource())
    return false;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      slice.getContext(), HyperrectangularSlice(slice),
      HyperrectangularSlice(other));
  return succeeded(overlap) && *overlap;
}

static Overlap classifyUnproven(Value lhs, Value rhs) {
  return isTestUseless(lhs, rhs) ? Overlap::Yes : Overlap::Maybe;
}

Overlap kv::classifyDestinations(WriteOp lhs, unsigned i, WriteOp rhs,
                                 unsigned j, AliasAnalysis &aliases) {
  Value dest = lhs.getDests()[i], other = rhs.getDests()[j];
  if (aliases.alias(dest, other).isNo() || areRowsDisjoint(lhs, i, rhs, j))
    return Overlap::No;
  return classifyUnproven(dest, other);
}

Overlap kv::classifyInput(Value input, WriteOp write, unsigned i,
                          AliasAnalysis &aliases) {
  Value dest = write.getDests()[i];
  if (aliases.alias(input, dest).isNo() || isOutside(write, i, input))
    return Overlap::No;
  return classifyUnproven(dest, input);
}

SmallVector<Conflict> kv::getConflicts(WriteOp write, AliasAnalysis &aliases) {
  // One memref may be several destinations. Of what is found out about a pair
  // the worst holds.
  llvm::MapVector<std::pair<Value, Value>, Overlap> found;
  auto add = [&](Value dest, Value other, Overlap overlap) {
    if (overlap == Overlap::No)
      return;
    Overlap &known = found.try_emplace({dest, other}, overlap).first->second;
    known = std::max(known, overlap);
  };
  unsigned numDests = write.getNumDests();
  for (unsigned i = 0; i < numDests && numDests > 1; ++i) {
    Value dest = write.getDests()[i];
    for (unsigned j = i + 1; j < numDests; ++j)
      add(dest, write.getDests()[j],
          classifyDestinations(write, i, write, j, aliases));
    for (OpOperand *input : write.getDpsInputOperands())
      if (input->getOperandNumber() !=
          write.getValuesMutable()[i].getOperandNumber())
        add(dest, input->get(), classifyInput(input->get(), write, i, aliases));
  }
  SmallVector<Conflict> conflicts;
  for (auto [pair, overlap] : found)
    conflicts.push_back({pair.first, pair.second, overlap});
  return conflicts;
}
