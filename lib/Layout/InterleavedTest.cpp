//===- InterleavedTest.cpp - Views that share periods of memory -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of a view, modulo a number m, lie in one interval: from its lowest
// address on, as long as the spans of the dimensions whose strides are no
// multiples of m. Two such intervals on a circle of length m can be compared.
//
//===----------------------------------------------------------------------===//

#include "InterleavedTest.h"

#include "IndexArithmetic.h"
#include "kvfuse/Layout/Overlap.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kvfuse;

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
  SmallVector<Value> inits = {createBool(b, false)};
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

func::FuncOp kvfuse::getInterleavedTest(ModuleOp module, unsigned rank) {
  std::string name = ("kvfuse_are_interleaved_" + Twine(rank)).str();
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
