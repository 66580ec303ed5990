//===- AccessWidth.cpp - How many elements are moved at once --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// access(n) needs, of values and cache alike, that the last dimension has
// stride 1, that every other stride is a multiple of n, and that the first
// element lies at a multiple of n elements; of the map, that rows start at
// multiples of n. Each fact holds, cannot hold, or is open, to be tested.
//
//===----------------------------------------------------------------------===//

#include "AccessWidth.h"

#include "IndexArithmetic.h"
#include "kvfuse/Dialect/KV/Analysis/Disjoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Facts about one memref
//===----------------------------------------------------------------------===//

/// The alignment that is known of the address of `memref` by itself.
static int64_t getOwnAlignment(Value memref, const AccessOptions &options) {
  Operation *def = memref.getDefiningOp();
  if (auto assume = dyn_cast_or_null<memref::AssumeAlignmentOp>(def))
    return assume.getAlignment();
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(def))
    return alloc.getAlignment().value_or(1);
  bool isBase = !getPointerOperand(memref);
  return isBase && options.assumeAligned ? kMaxAccessBytes : 1;
}

/// Is the address of the first element of `memref` a multiple of `bytes`, a
/// power of two? That of a view is the address of what it is a view of, plus a
/// distance that offsets in types tell.
static Fact getAlignment(Value memref, int64_t bytes,
                         const AccessOptions &options) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t offset = type.getStridesAndOffset().second;
  for (Value base = memref; base && isa<MemRefType>(base.getType());
       base = getPointerOperand(base))
    if (getOwnAlignment(base, options) >= bytes) {
      int64_t baseOffset =
          cast<MemRefType>(base.getType()).getStridesAndOffset().second;
      if (base == memref)
        return Fact::Holds;
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(baseOffset))
        return options.assumeAligned ? Fact::Holds : Fact::Open;
      int64_t distance = (offset - baseOffset) * getElementBytes(type);
      return distance % bytes == 0 ? Fact::Holds : Fact::Fails;
    }
  return Fact::Open;
}

Fact kvfuse::getUnitStride(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getShape().back() == 1)
    return Fact::Holds;
  int64_t stride = type.getStridesAndOffset().first.back();
  if (ShapedType::isDynamic(stride))
    return Fact::Open;
  return stride == 1 ? Fact::Holds : Fact::Fails;
}

namespace {
/// What an access of `elements` needs of `memref` and what its type, its views
/// and the promises leave open.
struct Needs {
  Needs(Value memref, int64_t elements, const AccessOptions &options);

  /// Can the needs be met at all?
  bool possible;
  Fact unitStride;
  bool testAddress = false;
  /// Dimensions whose strides have to be tested.
  SmallVector<unsigned> testStrides;

  bool areProven() const {
    return unitStride == Fact::Holds && possible && !testAddress &&
           testStrides.empty();
  }
};
} // namespace

Needs::Needs(Value memref, int64_t elements, const AccessOptions &options) {
  auto type = cast<MemRefType>(memref.getType());
  unitStride = getUnitStride(memref);
  possible = unitStride != Fact::Fails;
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  for (auto [dim, stride] : llvm::enumerate(llvm::drop_end(strides))) {
    if (type.getDimSize(dim) == 1)
      continue;
    if (!ShapedType::isDynamic(stride))
      possible &= stride % elements == 0;
    else if (!options.assumeAligned)
      testStrides.push_back(dim);
  }
  Fact alignment =
      getAlignment(memref, elements * getElementBytes(type), options);
  possible &= alignment != Fact::Fails;
  testAddress = alignment == Fact::Open;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static bool isPossible(WriteOp write, unsigned i, int64_t elements,
                       const AccessOptions &options) {
  if (elements == 1)
    return true;
  unsigned row = write.getRowRank(i) - 1;
  AffineMap map = write.getMap(i);
  AffineExpr start = simplifyAffineExpr(
      map.getResults().back() -
          getAffineDimExpr(write.getRowDim(row), write.getContext()),
      map.getNumDims(), /*numSymbols=*/0);
  return start.isMultipleOf(elements) &&
         llvm::all_of(ValueRange{write.getValues()[i], write.getDests()[i]},
                      [&](Value memref) {
                        Needs needs(memref, elements, options);
                        return options.onlyProven ? needs.areProven()
                                                  : needs.possible;
                      });
}

int64_t kvfuse::getAccessBytes(WriteOp write, unsigned i, int64_t elements) {
  return elements * std::max(getElementBytes(write.getValueType(i)),
                             getElementBytes(write.getDestType(i)));
}

/// The widest access to destination `i`, and the widest to rows without gaps,
/// which are aligned as the head dimension is.
static std::pair<int64_t, int64_t>
getWidestAndNatural(WriteOp write, unsigned i, const AccessOptions &options) {
  if (!write.hasInnerRow(i))
    return {1, 1};
  int64_t widest =
      std::max<int64_t>(kMaxAccessBytes / getAccessBytes(write, i, 1), 1);
  int64_t natural = widest;
  int64_t extent = write.getStaticRowExtent(i, write.getRowRank(i) - 1);
  if (!ShapedType::isDynamic(extent) && extent > 0) {
    widest = std::min<int64_t>(widest, llvm::bit_floor<uint64_t>(extent));
    natural = extent & -extent;
  }
  while (!isPossible(write, i, widest, options))
    widest /= 2;
  return {widest, std::min(natural, widest)};
}

SmallVector<Accesses>
kvfuse::getAccessCandidates(WriteOp write, const AccessOptions &options) {
  Accesses widest, narrower, single(write.getNumDests(), 1);
  for (unsigned i = 0; i < write.getNumDests(); ++i) {
    auto [first, natural] = getWidestAndNatural(write, i, options);
    widest.push_back(first);
    narrower.push_back(natural);
  }
  SmallVector<Accesses> candidates = {widest};
  if (options.onlyProven)
    return candidates;
  // Where alignment is promised, what is left to test is the same for both.
  if (options.assumeAligned)
    narrower = widest;
  else if (narrower == widest)
    for (unsigned i = 0; i < write.getNumDests(); ++i)
      narrower[i] = std::min(
          widest[i], std::max<int64_t>(4 / getAccessBytes(write, i, 1), 1));
  for (const Accesses &next : {narrower, single})
    if (next != candidates.back())
      candidates.push_back(next);
  return candidates;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

namespace {
/// Collects numbers that must all be zero.
class ZeroTest {
public:
  explicit ZeroTest(ImplicitLocOpBuilder &b) : b(b) {}

  /// The last stride of `memref` is 1.
  void addUnitStride(Value memref) {
    unsigned last = cast<MemRefType>(memref.getType()).getRank() - 1;
    auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
    addStride(metadata, last,
              arith::SubIOp::create(b, metadata.getStrides()[last],
                                    createIndex(b, 1)));
  }

  /// `needs`, of access to `elements` of `memref`, are met.
  void add(Value memref, int64_t elements, const Needs &needs) {
    if (needs.unitStride == Fact::Open)
      addUnitStride(memref);
    if (needs.testStrides.empty() && !needs.testAddress)
      return;
    auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
    for (unsigned dim : needs.testStrides)
      addStride(metadata, dim, lowBits(metadata.getStrides()[dim], elements));
    if (!needs.testAddress)
      return;
    int64_t bytes = getElementBytes(memref.getType());
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
    Value distance =
        arith::MulIOp::create(b, metadata.getOffset(), createIndex(b, bytes));
    add(lowBits(arith::AddIOp::create(b, address, distance), elements * bytes));
  }

  /// Null if nothing was added.
  Value finish() {
    return any ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq, any,
                                       createIndex(b, 0))
                     .getResult()
               : Value();
  }

private:
  /// `value` modulo a power of two.
  Value lowBits(Value value, int64_t modulus) {
    return arith::AndIOp::create(b, value, createIndex(b, modulus - 1));
  }
  /// `excess` of stride `dim` is zero, unless the dimension has size 1: its
  /// stride is never used.
  void addStride(memref::ExtractStridedMetadataOp metadata, unsigned dim,
                 Value excess) {
    auto type = cast<MemRefType>(metadata.getSource().getType());
    if (type.isDynamicDim(dim)) {
      Value isOne =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                metadata.getSizes()[dim], createIndex(b, 1));
      excess = arith::SelectOp::create(b, isOne, createIndex(b, 0), excess);
    }
    add(excess);
  }
  void add(Value bits) {
    any = any ? arith::OrIOp::create(b, any, bits).getResult() : bits;
  }

  ImplicitLocOpBuilder &b;
  Value any;
};
} // namespace

Value kvfuse::createAccessTest(ImplicitLocOpBuilder &b, WriteOp write,
                               ArrayRef<int64_t> accesses,
                               const AccessOptions &options) {
  ZeroTest test(b);
  for (auto [i, elements] : llvm::enumerate(accesses))
    if (elements > 1)
      for (Value memref : {write.getValues()[i], write.getDests()[i]})
        test.add(memref, elements, Needs(memref, elements, options));
  return test.finish();
}

Value kvfuse::createUnitStrideTest(ImplicitLocOpBuilder &b,
                                   ValueRange memrefs) {
  ZeroTest test(b);
  for (Value memref : memrefs)
    if (getUnitStride(memref) == Fact::Open)
      test.addUnitStride(memref);
  return test.finish();
}
