//===- ArgumentTests.cpp - Arguments do not overlap (SM8) -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Layout/Overlap.h"

#include "IndexArithmetic.h"
#include "kvfuse/Dialect/KV/Analysis/ArgumentNames.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kvfuse;

/// Of more pairs of arguments there is a loop: the code of a model with many
/// layers must not grow with the square of their number.
static constexpr unsigned kMaxPairs = 64;

static void createAssert(ImplicitLocOpBuilder &b, Value test,
                         const Twine &message) {
  cf::AssertOp::create(b, test, b.getStringAttr("SM8: " + message));
}

/// The number of `argument`, with its name if it has one.
static std::string name(BlockArgument argument) {
  return std::to_string(argument.getArgNumber()) + kv::quoteName(argument);
}

Value OverlapTests::createNoRepetitionTest(ImplicitLocOpBuilder &b,
                                           Value memref) {
  const View &view = getView(b.getLoc(), memref);
  Value zero = createIndex(b, 0), one = createIndex(b, 1);
  Value good = createBool(b, true);
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    Value moves = createCompare(b, arith::CmpIPredicate::ne, stride, zero);
    Value single = createCompare(b, arith::CmpIPredicate::ule, size, one);
    Value either = b.createOrFold<arith::OrIOp>(moves, single);
    good = b.createOrFold<arith::AndIOp>(good, either);
  }
  Value isEmpty = createCompare(b, arith::CmpIPredicate::eq, view.high, zero);
  return b.createOrFold<arith::OrIOp>(isEmpty, good);
}

void OverlapTests::createPairTests(ImplicitLocOpBuilder &b,
                                   ArrayRef<BlockArgument> written,
                                   ArrayRef<BlockArgument> read) {
  for (auto [i, argument] : llvm::enumerate(written)) {
    auto others =
        llvm::concat<const BlockArgument>(written.drop_front(i + 1), read);
    for (BlockArgument other : others) {
      auto [first, second] = std::minmax(
          argument, other, [](BlockArgument lhs, BlockArgument rhs) {
            return lhs.getArgNumber() < rhs.getArgNumber();
          });
      createAssert(b, createDisjointTest(b, b.getLoc(), argument, other),
                   "dest-alias: arguments " + name(first) + " and " +
                       name(second) + " overlap");
    }
  }
}

OverlapTests::View OverlapTests::createSwitch(ImplicitLocOpBuilder &b,
                                              Value number,
                                              ArrayRef<View> views) {
  unsigned rank = views.front().getRank();
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, views.size()));
  SmallVector<Type> types(3 + 2 * rank, b.getIndexType());
  auto choice =
      scf::IndexSwitchOp::create(b, types, number, cases, cases.size());
  OpBuilder::InsertionGuard guard(b);
  for (auto [view, region] : llvm::zip_equal(views, choice->getRegions())) {
    b.createBlock(&region);
    SmallVector<Value> numbers = {view.low, view.high, view.elementBytes};
    llvm::append_range(numbers, view.sizes);
    llvm::append_range(numbers, view.strides);
    scf::YieldOp::create(b, numbers);
  }
  ResultRange results = choice.getResults();
  return {results[0], results[1], results[2],
          SmallVector<Value>(results.slice(3, rank)),
          SmallVector<Value>(results.drop_front(3 + rank))};
}

Value OverlapTests::createSearch(ImplicitLocOpBuilder &b, Value number,
                                 const View &view, Value end,
                                 ArrayRef<View> others, Value found) {
  auto loop =
      scf::ForOp::create(b, createIndex(b, 0), end, createIndex(b, 1), found);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  View other = createSwitch(b, loop.getInductionVar(), others);
  Value isDisjoint = createDisjointTest(b, view, other);
  Value next =
      arith::SelectOp::create(b, isDisjoint, loop.getRegionIterArg(0), number);
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

// Written arguments come first. Each argument is compared with a range that
// holds the written ones before it. That is enough where caches were allocated
// one after the other, and values elsewhere; otherwise it is compared with each
// of them.
Value OverlapTests::createTestLoop(ImplicitLocOpBuilder &b,
                                   ArrayRef<View> views, unsigned numWritten) {
  Value none = createIndex(b, -1), zero = createIndex(b, 0),
        one = createIndex(b, 1), end = createIndex(b, numWritten);
  // The argument that was found, and the range: first from the highest address
  // to the lowest.
  auto loop = scf::ForOp::create(b, zero, createIndex(b, views.size()), one,
                                 {none, none, zero});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), found = loop.getRegionIterArg(0),
        low = loop.getRegionIterArg(1), high = loop.getRegionIterArg(2);
  View view = createSwitch(b, number, views);
  Value apart = arith::OrIOp::create(
      b, createCompare(b, arith::CmpIPredicate::ule, view.high, low),
      createCompare(b, arith::CmpIPredicate::ule, high, view.low));
  auto ifApart =
      scf::IfOp::create(b, b.getIndexType(), apart, /*withElse=*/true);
  Value isWritten = createCompare(b, arith::CmpIPredicate::ult, number, end);
  Value hasElements =
      createCompare(b, arith::CmpIPredicate::ne, view.high, zero);
  Value grows = arith::AndIOp::create(b, isWritten, hasElements);
  Value lowest = arith::MinUIOp::create(b, low, view.low);
  Value highest = arith::MaxUIOp::create(b, high, view.high);
  scf::YieldOp::create(b, {ifApart.getResult(0),
                           arith::SelectOp::create(b, grows, lowest, low),
                           arith::SelectOp::create(b, grows, highest, high)});

  b.setInsertionPointToStart(ifApart.thenBlock());
  scf::YieldOp::create(b, found);
  b.setInsertionPointToStart(ifApart.elseBlock());
  Value before = arith::MinUIOp::create(b, number, end);
  scf::YieldOp::create(b, createSearch(b, number, view, before,
                                       views.take_front(numWritten), found));
  return loop.getResult(0);
}

void OverlapTests::createLoopTests(ImplicitLocOpBuilder &b,
                                   ArrayRef<BlockArgument> written,
                                   ArrayRef<BlockArgument> read) {
  SmallVector<View> views;
  unsigned rank = 0;
  auto arguments =
      llvm::to_vector(llvm::concat<const BlockArgument>(written, read));
  for (BlockArgument argument : arguments) {
    views.push_back(getView(b.getLoc(), argument));
    rank = std::max(rank, views.back().getRank());
  }
  for (View &view : views)
    view.extend(b, rank);
  Value found = createTestLoop(b, views, written.size());
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    Value isOther = createCompare(b, arith::CmpIPredicate::ne, found,
                                  createIndex(b, number));
    createAssert(b, isOther,
                 "dest-alias: argument " + name(argument) +
                     " overlaps one that is written");
  }
}

void OverlapTests::createArgumentTests(func::FuncOp func) {
  if (func.isExternal())
    return;
  TouchedArguments touched = writtenArguments.lookup(func);
  SmallVector<BlockArgument> written, read;
  for (BlockArgument argument : func.getArguments())
    if (isa<MemRefType>(argument.getType()))
      (touched.written[argument.getArgNumber()] ? written : read)
          .push_back(argument);
  // Behind what `getView` computes of the arguments.
  ImplicitLocOpBuilder b(func.getLoc(), &func.front().front());
  for (unsigned number : touched.shared.set_bits())
    createAssert(b, createNoRepetitionTest(b, func.getArgument(number)),
                 "overlap: argument " + name(func.getArgument(number)) +
                     ", of which several parts are written, repeats its "
                     "elements");
  if (written.size() * (written.size() + read.size()) <= kMaxPairs)
    createPairTests(b, written, read);
  else
    createLoopTests(b, written, read);
}
