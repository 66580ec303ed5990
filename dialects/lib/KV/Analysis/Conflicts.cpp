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

namespace {
/// Collects conflicts, those of one pair of memrefs once: one memref may be
/// several operands. Of what is found out about a pair the worst holds.
class ConflictCollector {
public:
  explicit ConflictCollector(AliasAnalysis &aliases) : aliases(aliases) {}

  void addDestinations(WriteOp lhs, unsigned i, WriteOp rhs, unsigned j) {
    add({lhs.getDests()[i], rhs.getDests()[j], /*isRead=*/false,
         classifyDestinations(lhs, i, rhs, j, aliases)});
  }
  void addInput(Value input, WriteOp write, unsigned i) {
    add({write.getDests()[i], input, /*isRead=*/true,
         classifyInput(input, write, i, aliases)});
  }
  SmallVector<Conflict> take() {
    return llvm::map_to_vector(found, [](auto &entry) { return entry.second; });
  }

private:
  void add(const Conflict &conflict) {
    if (conflict.overlap == Overlap::No)
      return;
    Conflict &known =
        found.try_emplace({conflict.dest, conflict.other}, conflict)
            .first->second;
    known.overlap = std::max(known.overlap, conflict.overlap);
  }

  AliasAnalysis &aliases;
  llvm::MapVector<std::pair<Value, Value>, Conflict> found;
};
} // namespace

SmallVector<Conflict> kv::getConflicts(WriteOp write, AliasAnalysis &aliases) {
  ConflictCollector conflicts(aliases);
  unsigned numDests = write.getNumDests();
  for (unsigned i = 0; i < numDests && numDests > 1; ++i) {
    for (unsigned j = i + 1; j < numDests; ++j)
      conflicts.addDestinations(write, i, write, j);
    unsigned own = write.getValuesMutable()[i].getOperandNumber();
    for (OpOperand *input : write.getDpsInputOperands())
      if (input->getOperandNumber() != own)
        conflicts.addInput(input->get(), write, i);
  }
  return conflicts.take();
}

SmallVector<Conflict> kv::getConflicts(WriteOp lhs, WriteOp rhs,
                                       AliasAnalysis &aliases) {
  ConflictCollector conflicts(aliases);
  for (unsigned i = 0; i < lhs.getNumDests(); ++i) {
    for (unsigned j = 0; j < rhs.getNumDests(); ++j)
      conflicts.addDestinations(lhs, i, rhs, j);
    for (Value input : rhs.getDpsInputs())
      conflicts.addInput(input, lhs, i);
  }
  for (unsigned j = 0; j < rhs.getNumDests(); ++j)
    for (Value input : lhs.getDpsInputs())
      conflicts.addInput(input, rhs, j);
  return conflicts.take();
}
