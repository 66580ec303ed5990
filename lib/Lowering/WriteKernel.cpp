//===- WriteKernel.cpp - The kernel of kv.write ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch for all destinations. Block x is the token; its threads, and grid
// y, walk over the groups of elements of its rows, those of destination 0
// first. Page and offset are computed once per token and destination, before
// the walk.
//
// A group is what one access moves: `WriteOp::getAccess` elements along the
// last row coordinate, a vector. Where a group does not lie in its row as a
// whole, or not in the cache without wrapping, its elements are moved one by
// one.
//
//===----------------------------------------------------------------------===//

#include "CoordinateBuilder.h"
#include "KernelTable.h"
#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
class WriteKernelBuilder {
public:
  WriteKernelBuilder(WriteOp write, Kernel &kernel)
      : write(write), kernel(kernel),
        b(write.getLoc(),
          OpBuilder::atBlockEnd(&kernel.func.getBody().back())) {
    auto map = [&](Value value) { return kernel.mapping.lookup(value); };
    indices = llvm::map_to_vector(write.getIndices(), map);
    if (write.getMask())
      mask = map(write.getMask());
    dests = llvm::map_to_vector(write.getDests(), map);
    values = llvm::map_to_vector(write.getValues(), map);
  }

  void build() {
    Value token = gpu::BlockIdOp::create(b, gpu::Dimension::x);
    SmallVector<Value> sizes;
    for (unsigned dim = 0; dim < write.getGridRank(); ++dim)
      sizes.push_back(createSize(b, indices.front(), dim));
    grid = delinearize(b, token, sizes);

    SmallVector<Value> slots;
    for (Value index : indices)
      slots.push_back(loadIndex(index));
    Value active = buildActive(slots);
    auto buildRest = [&] {
      for (Value &slot : slots)
        slot = arith::IndexCastOp::create(b, b.getIndexType(), slot);
      coordinates.emplace(write, dests, grid, slots);
      for (unsigned i = 0; i < write.getNumDests(); ++i)
        prepareDestination(i);
      buildWalk();
    };
    if (!active) {
      buildRest();
    } else {
      auto ifActive = scf::IfOp::create(b, active, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifActive.thenBlock());
      buildRest();
    }
    gpu::ReturnOp::create(b);
  }

private:
  /// What is known of a destination before its elements are walked over.
  struct Destination {
    SmallVector<Value> extents;
    /// Groups along each row coordinate, and in all.
    SmallVector<Value> groupCounts;
    Value numGroups;
    /// Coordinates that do not depend on the row, wrapped; null otherwise.
    SmallVector<Value> fixed;
    /// Are the fixed coordinates in bounds? Null if that needs no test.
    Value inBounds;
  };

  /// SX1: an index value is widened, with its sign, before any arithmetic.
  Value loadIndex(Value index) {
    Value slot = memref::LoadOp::create(b, index, grid);
    if (slot.getType().isInteger(64))
      return slot;
    return arith::ExtSIOp::create(b, b.getI64Type(), slot);
  }

  /// Is the token written at all? Null if nothing says otherwise.
  Value buildActive(ValueRange slots) {
    Value active;
    if (mask)
      active = memref::LoadOp::create(b, mask, grid);
    if (write.hasWhere()) {
      Value where =
          cloneRegion(b, write.getWhere().front(), slots, kernel.mapping);
      active = createAnd(b, active, where);
    }
    return active;
  }

  void prepareDestination(unsigned i) {
    Destination dest;
    dest.extents = createRowExtents(b, write, i, dests[i], values[i]);
    dest.groupCounts = createGroupCounts(b, write, i, dest.extents);
    dest.numGroups = createProduct(b, dest.groupCounts);
    dest.fixed.resize(write.getDestType(i).getRank());
    dest.inBounds = coordinates->locate(b, i, /*rows=*/{}, dest.fixed, {});
    destinations.push_back(std::move(dest));
  }

  /// for (g = thread; g < groups of all rows; g += threads) put group g.
  void buildWalk() {
    Value total = destinations.front().numGroups;
    for (Destination &dest : llvm::drop_begin(destinations))
      total = b.createOrFold<arith::AddIOp>(total, dest.numGroups);
    scf::ForOp loop = createThreadLoop(b, gpu::Dimension::y, total);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    buildGroup(0, loop.getInductionVar());
  }

  /// Puts group `group` of the rows of destinations `i` and up.
  void buildGroup(unsigned i, Value group) {
    if (i + 1 == write.getNumDests())
      return putGroup(i, group);
    Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, group,
                                       destinations[i].numGroups);
    auto choice = scf::IfOp::create(b, here, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    putGroup(i, group);
    b.setInsertionPointToStart(choice.elseBlock());
    Value rest =
        arith::SubIOp::create(b, group, destinations[i].numGroups).getResult();
    buildGroup(i + 1, rest);
  }

  void putGroup(unsigned i, Value group) {
    Destination &dest = destinations[i];
    SmallVector<Value> rows = delinearize(b, group, dest.groupCounts);
    if (write.getAccess(i) == 1)
      return putElement(i, rows, dest.fixed, dest.inBounds);

    Value &first = rows.back();
    first = arith::MulIOp::create(b, first, createAccess(i));
    SmallVector<Value> place(dest.fixed);
    Value inBounds = coordinates->locate(
        b, i, rows, MutableArrayRef(place).drop_back(), dest.inBounds);
    OpBuilder::InsertionGuard guard(b);
    enterIf(inBounds);

    Value last = coordinates->applyLast(b, i, rows);
    Value isWhole =
        createAnd(b, buildInRow(i, first),
                  coordinates->buildInBounds(b, i, last, write.getAccess(i)));
    if (isWhole) {
      auto choice = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
      b.setInsertionPointToStart(choice.elseBlock());
      putElements(i, rows, place);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    place.back() = last;
    putVector(i, rows, place);
  }

  Value createAccess(unsigned i) {
    return arith::ConstantIndexOp::create(b, write.getAccess(i));
  }

  /// Do rows of destination `i` consist of whole groups, as far as is known?
  bool hasWholeGroups(unsigned i) {
    int64_t extent = write.getStaticRowExtent(i, write.getRowRank(i) - 1);
    return !ShapedType::isDynamic(extent) && extent % write.getAccess(i) == 0;
  }

  /// Does the group that starts at `first` lie in its row? Null if it must.
  Value buildInRow(unsigned i, Value first) {
    if (hasWholeGroups(i))
      return {};
    Value end = arith::AddIOp::create(b, first, createAccess(i));
    Value extent = destinations[i].extents.back();
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, end, extent);
  }

  /// Puts those elements, one by one, of the group at `rows` that are in the
  /// row. `place` has all coordinates but the last.
  void putElements(unsigned i, SmallVector<Value> rows, ArrayRef<Value> place) {
    Value end = arith::AddIOp::create(b, rows.back(), createAccess(i));
    if (!hasWholeGroups(i))
      end = arith::MinUIOp::create(b, end, destinations[i].extents.back());
    auto loop = scf::ForOp::create(b, rows.back(), end,
                                   arith::ConstantIndexOp::create(b, 1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    rows.back() = loop.getInductionVar();
    putElement(i, rows, place, /*inBounds=*/{});
  }

  /// Puts the element at `rows`, if `inBounds` holds. `known` has the
  /// coordinates that have been computed and tested for that.
  void putElement(unsigned i, ValueRange rows, ArrayRef<Value> known,
                  Value inBounds) {
    SmallVector<Value> place(known);
    inBounds = coordinates->locate(b, i, rows, place, inBounds);
    OpBuilder::InsertionGuard guard(b);
    enterIf(inBounds);
    Value element =
        memref::LoadOp::create(b, values[i], getSource(i, rows)).getResult();
    Value stored = cloneRegion(b, write.getBody(i), element, kernel.mapping);
    memref::StoreOp::create(b, stored, dests[i], place);
  }

  /// Puts the group of elements from `rows` on at `place`, with one access.
  void putVector(unsigned i, ValueRange rows, ValueRange place) {
    auto type = VectorType::get(write.getAccess(i),
                                write.getValueType(i).getElementType());
    auto loaded =
        vector::LoadOp::create(b, type, values[i], getSource(i, rows),
                               /*nontemporal=*/false, getAlignment(type));
    Value stored =
        cloneRegionOnVector(b, write.getBody(i), loaded, kernel.mapping);
    vector::StoreOp::create(b, stored, dests[i], place, /*nontemporal=*/false,
                            getAlignment(cast<VectorType>(stored.getType())));
  }

  /// What `access` promises, as far as an access makes use of it: 16 bytes are
  /// what a thread moves at most.
  static llvm::Align getAlignment(VectorType type) {
    return llvm::Align(std::min<int64_t>(
        type.getNumElements() * type.getElementTypeBitWidth() / 8, 16));
  }

  /// Coordinates of the values at `rows`.
  SmallVector<Value> getSource(unsigned i, ValueRange rows) {
    return llvm::map_to_vector(
        write.getOrder(i).getResults(), [&](AffineExpr expr) -> Value {
          unsigned dim = cast<AffineDimExpr>(expr).getPosition();
          return dim < grid.size() ? grid[dim] : rows[dim - grid.size()];
        });
  }

  /// Goes on in a branch that is taken if `condition`, which may be null for
  /// true, holds. Also after an assert: nothing outside the cache is written,
  /// whatever the target does once one has failed.
  void enterIf(Value condition) {
    if (!condition)
      return;
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }

  WriteOp write;
  Kernel &kernel;
  ImplicitLocOpBuilder b;
  SmallVector<Value> indices, dests, values;
  Value mask;
  SmallVector<Value> grid;
  std::optional<CoordinateBuilder> coordinates;
  SmallVector<Destination> destinations;
};
} // namespace

void kvfuse::buildWriteKernel(WriteOp write, Kernel &kernel) {
  kernel.func->setAttr(kTokenKernelAttr, UnitAttr::get(write.getContext()));
  WriteKernelBuilder(write, kernel).build();
}
