//===- RowWriter.cpp - Groups of elements, from values to caches ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowWriter.h"

#include "KernelTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// What `access` promises, as far as an access makes use of it: 16 bytes are
/// what a thread moves at most.
static llvm::Align getAlignment(VectorType type) {
  return llvm::Align(std::min<int64_t>(
      type.getNumElements() * type.getElementTypeBitWidth() / 8, 16));
}

RowWriter::RowWriter(ImplicitLocOpBuilder &b, WriteOp write,
                     const IRMapping &mapping, const Destination &dest,
                     ValueRange rows)
    : b(b), write(write), mapping(mapping), dest(dest), i(dest.first),
      access(write.getAccess(i)), rows(rows) {}

Value RowWriter::load(ArrayRef<Value> grid) {
  if (!isElement() && !hasWholeGroups())
    return {};
  SmallVector<Value> source = getSource(grid, rows);
  if (isElement())
    return memref::LoadOp::create(b, dest.values, source);
  return loadVector(source);
}

/// SX1: index values are widened, with their sign, before any arithmetic.
SmallVector<Value> RowWriter::widen(ValueRange slots) {
  return llvm::map_to_vector(slots, [&](Value slot) -> Value {
    if (slot.getType().isInteger(64))
      return slot;
    return arith::ExtSIOp::create(b, b.getI64Type(), slot);
  });
}

/// Is the token written at all? Null if nothing says otherwise.
Value RowWriter::buildActive(const TokenInputs &token, ValueRange slots) {
  Value active = createAnd(b, token.exists, token.mask);
  if (!write.hasWhere())
    return active;
  Value where = cloneRegion(b, write.getWhere().front(), slots, mapping);
  return createAnd(b, active, where);
}

// A branch is taken after an assert, too: nothing outside the cache is written,
// whatever the target does once one has failed.
void RowWriter::store(const TokenInputs &token) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> slots = widen(token.slots);
  enterIf(b, buildActive(token, slots));
  for (Value &slot : slots)
    slot = arith::IndexCastOp::create(b, b.getIndexType(), slot);
  CoordinateBuilder coordinates(write, dest, token.grid, slots);
  SmallVector<Value> place(write.getDestType(i).getRank());
  if (isElement()) {
    enterIf(b, coordinates.locate(b, rows, place));
    return storeElement(token.group, place);
  }

  enterIf(b, coordinates.locate(b, rows, MutableArrayRef(place).drop_back()));
  Value last = coordinates.applyLast(b, rows);
  Value isWhole =
      createAnd(b, buildInRow(), coordinates.buildInBounds(b, last, access));
  if (isWhole) {
    auto choice = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
    b.setInsertionPointToStart(choice.elseBlock());
    storeElements(token, place, coordinates);
    b.setInsertionPointToStart(choice.thenBlock());
  }
  place.back() = last;
  storeVector(token.group ? token.group
                          : loadVector(getSource(token.grid, rows)),
              place);
}

Value RowWriter::createAccess() {
  return arith::ConstantIndexOp::create(b, access);
}

/// Do rows consist of whole groups, as far as is known?
bool RowWriter::hasWholeGroups() {
  int64_t extent = write.getStaticRowExtent(i, write.getRowRank(i) - 1);
  return !ShapedType::isDynamic(extent) && extent % access == 0;
}

/// Does the group lie in its row? Null if it must.
Value RowWriter::buildInRow() {
  if (hasWholeGroups())
    return {};
  Value end = arith::AddIOp::create(b, rows.back(), createAccess());
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, end,
                               dest.extents.back());
}

/// Stores those elements of the group, one by one, that are in the row. `known`
/// has all coordinates but the last.
void RowWriter::storeElements(const TokenInputs &token, ArrayRef<Value> known,
                              CoordinateBuilder &coordinates) {
  Value end = arith::AddIOp::create(b, rows.back(), createAccess());
  if (!hasWholeGroups())
    end = arith::MinUIOp::create(b, end, dest.extents.back());
  auto loop = scf::ForOp::create(b, rows.back(), end,
                                 arith::ConstantIndexOp::create(b, 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at(rows);
  at.back() = loop.getInductionVar();
  SmallVector<Value> place(known);
  enterIf(b, coordinates.locate(b, at, place));
  storeElement(
      memref::LoadOp::create(b, dest.values, getSource(token.grid, at)), place);
}

void RowWriter::storeElement(Value element, ValueRange place) {
  Value stored = cloneRegion(b, write.getBody(i), element, mapping);
  memref::StoreOp::create(b, stored, dest.cache, place);
}

Value RowWriter::loadVector(ValueRange source) {
  auto type = VectorType::get(access, write.getValueType(i).getElementType());
  return vector::LoadOp::create(b, type, dest.values, source,
                                /*nontemporal=*/false, getAlignment(type));
}

void RowWriter::storeVector(Value elements, ValueRange place) {
  Value stored = cloneRegionOnVector(b, write.getBody(i), elements, mapping);
  vector::StoreOp::create(b, stored, dest.cache, place, /*nontemporal=*/false,
                          getAlignment(cast<VectorType>(stored.getType())));
}

/// Coordinates of the values of the token at `grid` and the row coordinates
/// `at`.
SmallVector<Value> RowWriter::getSource(ArrayRef<Value> grid, ValueRange at) {
  return llvm::map_to_vector(
      write.getOrder(i).getResults(), [&](AffineExpr expr) -> Value {
        unsigned dim = cast<AffineDimExpr>(expr).getPosition();
        return dim < grid.size() ? grid[dim] : at[dim - grid.size()];
      });
}
