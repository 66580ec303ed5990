//===- Overlap.cpp - Do memrefs overlap? Asked at run time ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two memrefs are apart if their ranges of addresses are, which is what nearly
// every call finds. Where ranges meet, a function of the module tests whether
// the views are interleaved.
//
// All numbers are 64 bits wide and count bytes. Nothing overflows for a memref
// with elements: they lie in memory, and so do low and high. Sizes and strides
// of one without elements may be anything; what they give is not used.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Layout/Overlap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kvfuse;
using View = OverlapTests::View;

static Value createIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return b.createOrFold<arith::ConstantIndexOp>(value);
}

static Value createIndex(ImplicitLocOpBuilder &b, OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
}

static Value createCompare(ImplicitLocOpBuilder &b, arith::CmpIPredicate is,
                           Value lhs, Value rhs) {
  return b.createOrFold<arith::CmpIOp>(is, lhs, rhs);
}

/// (size - 1) * stride: from the first element along a dimension to the last.
static Value createSpan(ImplicitLocOpBuilder &b, Value size, Value stride) {
  Value last = b.createOrFold<arith::SubIOp>(size, createIndex(b, 1));
  return b.createOrFold<arith::MulIOp>(last, stride);
}

//===----------------------------------------------------------------------===//
// Ranges of addresses
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex()
             ? IndexType::kInternalStorageBitWidth / 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

const OverlapTests::View &OverlapTests::getView(Location loc, Value memref) {
  auto [it, isNew] = views.try_emplace(memref);
  View &view = it->second;
  if (!isNew)
    return view;
  ImplicitLocOpBuilder b(loc, module.getContext());
  b.setInsertionPointAfterValue(memref);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  view.elementBytes = getElementBytes(cast<MemRefType>(memref.getType()));
  Value bytes = createIndex(b, view.elementBytes), zero = createIndex(b, 0);
  // From the first element down to the lowest, and up to the highest.
  Value down = zero, up = zero, smallest;
  for (auto [mixedSize, mixedStride] :
       llvm::zip_equal(metadata.getConstifiedMixedSizes(),
                       metadata.getConstifiedMixedStrides())) {
    Value size = createIndex(b, mixedSize);
    Value stride =
        b.createOrFold<arith::MulIOp>(createIndex(b, mixedStride), bytes);
    Value span = createSpan(b, size, stride);
    if (auto known = getConstantIntValue(mixedStride)) {
      Value &end = *known < 0 ? down : up;
      end = b.createOrFold<arith::AddIOp>(end, span);
    } else {
      down = b.createOrFold<arith::AddIOp>(
          down, b.createOrFold<arith::MinSIOp>(span, zero));
      up = b.createOrFold<arith::AddIOp>(
          up, b.createOrFold<arith::MaxSIOp>(span, zero));
    }
    smallest = smallest ? b.createOrFold<arith::MinUIOp>(smallest, size) : size;
    view.sizes.push_back(size);
    view.strides.push_back(stride);
  }
  Value offset = b.createOrFold<arith::MulIOp>(
      createIndex(b, metadata.getConstifiedMixedOffset()), bytes);
  Value first = b.createOrFold<arith::AddIOp>(
      memref::ExtractAlignedPointerAsIndexOp::create(b, memref), offset);
  view.low = b.createOrFold<arith::AddIOp>(first, down);
  view.high = b.createOrFold<arith::AddIOp>(
      b.createOrFold<arith::AddIOp>(first, up), bytes);
  if (smallest) {
    Value empty = createCompare(b, arith::CmpIPredicate::eq, smallest, zero);
    view.high = b.createOrFold<arith::SelectOp>(empty, zero, view.high);
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Interleaved views
//===----------------------------------------------------------------------===//

/// The name of the function for views of rank at most `rank`.
static std::string getTestName(unsigned rank) {
  return ("kvfuse_are_interleaved_" + Twine(rank)).str();
}

namespace {
/// What the function knows of a view: dimensions of size 1 have stride 0, the
/// other strides are not negative.
struct Steps {
  Value low, elementBytes;
  SmallVector<Value> strides, spans;
};
} // namespace

/// Arguments of one view: low, bytes of an element, sizes, strides.
static unsigned getNumArguments(unsigned rank) { return 2 + 2 * rank; }

static Steps createSteps(ImplicitLocOpBuilder &b, ValueRange arguments) {
  Value zero = createIndex(b, 0), one = createIndex(b, 1);
  unsigned rank = (arguments.size() - 2) / 2;
  Steps steps{arguments[0], arguments[1], {}, {}};
  for (auto [size, stride] : llvm::zip_equal(arguments.slice(2, rank),
                                             arguments.drop_front(2 + rank))) {
    Value back = arith::SubIOp::create(b, zero, stride);
    Value length = arith::MaxSIOp::create(b, stride, back);
    Value single = createCompare(b, arith::CmpIPredicate::eq, size, one);
    steps.strides.push_back(arith::SelectOp::create(b, single, zero, length));
    steps.spans.push_back(createSpan(b, size, steps.strides.back()));
  }
  return steps;
}

/// All bytes of the view lie in [low, low + extent), up to multiples of
/// `modulus`: steps along a dimension whose stride is a multiple change
/// nothing.
static Value createExtent(ImplicitLocOpBuilder &b, const Steps &steps,
                          Value modulus) {
  Value zero = createIndex(b, 0), extent = steps.elementBytes;
  for (auto [stride, span] : llvm::zip_equal(steps.strides, steps.spans)) {
    Value rest = arith::RemUIOp::create(b, stride, modulus);
    Value isMultiple = createCompare(b, arith::CmpIPredicate::eq, rest, zero);
    Value more = arith::SelectOp::create(b, isMultiple, zero, span);
    extent = arith::AddIOp::create(b, extent, more);
  }
  return extent;
}

/// Are the views apart modulo `modulus`? Let d be the distance from lhs.low to
/// rhs.low, modulo m. A common byte would be lhs.low + x and rhs.low + y with
/// 0 <= x < extent(lhs), 0 <= y < extent(rhs), so x = d + y modulo m. If
/// extent(lhs) <= d and d + extent(rhs) <= m, then both x and d + y lie in
/// [0, m), so x = d + y, but x < d. This holds for any m > 0.
static Value createApartModulo(ImplicitLocOpBuilder &b, const Steps &lhs,
                               const Steps &rhs, Value modulus) {
  Value zero = createIndex(b, 0);
  Value distance = arith::SubIOp::create(b, rhs.low, lhs.low);
  Value rest = arith::RemSIOp::create(b, distance, modulus);
  Value isNegative = createCompare(b, arith::CmpIPredicate::slt, rest, zero);
  Value wrapped = arith::AddIOp::create(b, rest, modulus);
  Value start = arith::SelectOp::create(b, isNegative, wrapped, rest);
  Value room = arith::SubIOp::create(b, modulus, start);
  Value fits = createCompare(b, arith::CmpIPredicate::ule,
                             createExtent(b, lhs, modulus), start);
  Value otherFits = createCompare(b, arith::CmpIPredicate::ule,
                                  createExtent(b, rhs, modulus), room);
  return arith::AndIOp::create(b, fits, otherFits);
}

/// Tries the strides of both views, one after the other. The stride to try is
/// the first of the values that the loop turns around.
static Value createSearch(ImplicitLocOpBuilder &b, const Steps &lhs,
                          const Steps &rhs) {
  SmallVector<Value> inits = {arith::ConstantIntOp::create(b, 0, 1)};
  llvm::append_range(inits, lhs.strides);
  llvm::append_range(inits, rhs.strides);
  auto loop =
      scf::ForOp::create(b, createIndex(b, 0), createIndex(b, inits.size() - 1),
                         createIndex(b, 1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value found = loop.getRegionIterArg(0);
  ValueRange strides = loop.getRegionIterArgs().drop_front();
  auto ifFound = scf::IfOp::create(b, b.getI1Type(), found, /*withElse=*/true);
  SmallVector<Value> next = {ifFound.getResult(0)};
  llvm::append_range(next, strides.drop_front());
  next.push_back(strides.front());
  scf::YieldOp::create(b, next);

  b.setInsertionPointToStart(ifFound.thenBlock());
  scf::YieldOp::create(b, found);
  b.setInsertionPointToStart(ifFound.elseBlock());
  Value modulus = arith::MaxUIOp::create(b, strides.front(), createIndex(b, 1));
  scf::YieldOp::create(b, createApartModulo(b, lhs, rhs, modulus));
  return loop.getResult(0);
}

func::FuncOp OverlapTests::getInterleavedTest(unsigned rank) {
  std::string name = getTestName(rank);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> inputs(2 * getNumArguments(rank), b.getIndexType());
  auto test =
      func::FuncOp::create(b, name, b.getFunctionType(inputs, b.getI1Type()));
  test.setPrivate();
  test->setAttr(kPureAttr, b.getUnitAttr());
  b.setInsertionPointToStart(test.addEntryBlock());
  ValueRange arguments = test.getArguments();
  Steps lhs = createSteps(b, arguments.take_front(getNumArguments(rank)));
  Steps rhs = createSteps(b, arguments.drop_front(getNumArguments(rank)));
  func::ReturnOp::create(b, createSearch(b, lhs, rhs));
  return test;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// The arguments for `view`, as if it had `rank` dimensions.
static void appendArguments(ImplicitLocOpBuilder &b, const View &view,
                            unsigned rank, SmallVectorImpl<Value> &arguments) {
  unsigned missing = rank - view.sizes.size();
  arguments.append({view.low, createIndex(b, view.elementBytes)});
  arguments.append(view.sizes);
  arguments.append(missing, createIndex(b, 1));
  arguments.append(view.strides);
  arguments.append(missing, createIndex(b, 0));
}

Value OverlapTests::createDisjointTest(OpBuilder &builder, Location loc,
                                       Value lhs, Value rhs) {
  // By value: the second may move the first.
  View lhsView = getView(loc, lhs), rhsView = getView(loc, rhs);
  ImplicitLocOpBuilder b(loc, builder);
  Value before =
      createCompare(b, arith::CmpIPredicate::ule, lhsView.high, rhsView.low);
  Value behind =
      createCompare(b, arith::CmpIPredicate::ule, rhsView.high, lhsView.low);
  Value apart = b.createOrFold<arith::OrIOp>(before, behind);
  auto ifApart = scf::IfOp::create(b, b.getI1Type(), apart, /*withElse=*/true);
  b.setInsertionPointToStart(ifApart.thenBlock());
  scf::YieldOp::create(b, arith::ConstantIntOp::create(b, 1, 1).getResult());
  b.setInsertionPointToStart(ifApart.elseBlock());
  SmallVector<Value> arguments;
  unsigned rank = std::max(lhsView.sizes.size(), rhsView.sizes.size());
  appendArguments(b, lhsView, rank, arguments);
  appendArguments(b, rhsView, rank, arguments);
  auto call = func::CallOp::create(b, getInterleavedTest(rank), arguments);
  scf::YieldOp::create(b, call.getResults());
  return ifApart.getResult(0);
}

Value OverlapTests::createNoRepetitionTest(OpBuilder &builder, Location loc,
                                           Value memref) {
  const View &view = getView(loc, memref);
  ImplicitLocOpBuilder b(loc, builder);
  Value zero = createIndex(b, 0), one = createIndex(b, 1);
  // Without elements nothing is repeated.
  Value good = createCompare(b, arith::CmpIPredicate::eq, view.high, zero);
  Value allGood;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    Value moves = createCompare(b, arith::CmpIPredicate::ne, stride, zero);
    Value single = createCompare(b, arith::CmpIPredicate::eq, size, one);
    Value either = b.createOrFold<arith::OrIOp>(moves, single);
    allGood = allGood ? b.createOrFold<arith::AndIOp>(allGood, either) : either;
  }
  return allGood ? b.createOrFold<arith::OrIOp>(good, allGood)
                 : arith::ConstantIntOp::create(b, 1, 1).getResult();
}

void OverlapTests::createArgumentTests(func::FuncOp func) {
  if (func.isExternal())
    return;
  llvm::BitVector isWritten = written.lookup(func);
  if (isWritten.none())
    return;
  // Behind what is computed of the arguments.
  OpBuilder builder(&func.front().front());
  auto require = [&](Value test, const Twine &message) {
    cf::AssertOp::create(builder, func.getLoc(), test,
                         builder.getStringAttr("SM8: " + message));
  };
  SmallVector<BlockArgument> memrefs(
      llvm::make_filter_range(func.getArguments(), [](Value v) {
        return isa<MemRefType>(v.getType());
      }));
  for (auto [i, lhs] : llvm::enumerate(memrefs)) {
    unsigned number = lhs.getArgNumber();
    if (isWritten[number])
      require(createNoRepetitionTest(builder, func.getLoc(), lhs),
              "overlap: argument " + Twine(number) + " repeats its elements");
    for (BlockArgument rhs : ArrayRef(memrefs).drop_front(i + 1)) {
      unsigned other = rhs.getArgNumber();
      if (isWritten[number] || isWritten[other])
        require(createDisjointTest(builder, func.getLoc(), lhs, rhs),
                "dest-alias: arguments " + Twine(number) + " and " +
                    Twine(other) + " overlap");
    }
  }
}
