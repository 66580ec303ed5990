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

#include "IndexArithmetic.h"
#include "InterleavedTest.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Ranges of addresses
//===----------------------------------------------------------------------===//

const OverlapTests::View &OverlapTests::getView(Location loc, Value memref) {
  auto [it, isNew] = views.try_emplace(memref);
  View &view = it->second;
  if (!isNew)
    return view;
  ImplicitLocOpBuilder b(loc, module.getContext());
  b.setInsertionPointAfterValue(memref);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  int64_t elementBytes = getElementBytes(memref.getType());
  Value bytes = createIndex(b, elementBytes), zero = createIndex(b, 0);
  view.elementBytes = bytes;
  // From the first element down to the lowest, and up to the highest.
  // The smallest of the sizes that may be 0 tells if there are elements.
  Value down = zero, up = zero, smallest;
  for (auto [mixedSize, mixedStride] :
       llvm::zip_equal(metadata.getConstifiedMixedSizes(),
                       metadata.getConstifiedMixedStrides())) {
    Value size = getValueOrCreateConstantIndexOp(b, loc, mixedSize);
    Value stride = b.createOrFold<arith::MulIOp>(
        getValueOrCreateConstantIndexOp(b, loc, mixedStride), bytes);
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
      getValueOrCreateConstantIndexOp(b, loc,
                                      metadata.getConstifiedMixedOffset()),
      bytes);
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

void OverlapTests::View::extend(ImplicitLocOpBuilder &b, unsigned rank) {
  unsigned missing = rank - getRank();
  sizes.append(missing, createIndex(b, 1));
  strides.append(missing, createIndex(b, 0));
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

Value OverlapTests::createDisjointTest(ImplicitLocOpBuilder &b, View lhs,
                                       View rhs) {
  auto ule = arith::CmpIPredicate::ule;
  Value before = createCompare(b, ule, lhs.high, rhs.low);
  Value behind = createCompare(b, ule, rhs.high, lhs.low);
  Value apart = b.createOrFold<arith::OrIOp>(before, behind);
  auto ifApart = scf::IfOp::create(b, b.getI1Type(), apart, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifApart.thenBlock());
  scf::YieldOp::create(b, createBool(b, true));
  b.setInsertionPointToStart(ifApart.elseBlock());
  unsigned rank = std::max(lhs.getRank(), rhs.getRank());
  SmallVector<Value> arguments;
  for (View *view : {&lhs, &rhs}) {
    view->extend(b, rank);
    arguments.append({view->low, view->elementBytes});
    llvm::append_range(arguments, view->sizes);
    llvm::append_range(arguments, view->strides);
  }
  auto call =
      func::CallOp::create(b, getInterleavedTest(module, rank), arguments);
  scf::YieldOp::create(b, call.getResults());
  return ifApart.getResult(0);
}

Value OverlapTests::createDisjointTest(OpBuilder &builder, Location loc,
                                       Value lhs, Value rhs) {
  ImplicitLocOpBuilder b(loc, builder);
  // A copy: the map may grow.
  View lhsView = getView(loc, lhs);
  return createDisjointTest(b, lhsView, getView(loc, rhs));
}
