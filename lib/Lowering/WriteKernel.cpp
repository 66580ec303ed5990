//===- WriteKernel.cpp - The kernel of kv.write ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch for all destinations. Block x is the token; its threads, and grid
// y, walk over the elements of its rows, those of destination 0 first. Page and
// offset are computed once per token and destination, before the walk.
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
      for (Value slot : slots)
        coordinates.push_back(
            arith::IndexCastOp::create(b, b.getIndexType(), slot));
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
    Value numElements;
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
      Value where = cloneRegion(write.getWhere().front(), slots);
      active = active ? arith::AndIOp::create(b, active, where) : where;
    }
    return active;
  }

  /// Clones the operations of `block` here and returns what it yields.
  Value cloneRegion(Block &block, ValueRange arguments) {
    IRMapping mapping = kernel.mapping;
    mapping.map(block.getArguments(), arguments);
    for (Operation &op : block.without_terminator())
      b.clone(op, mapping);
    return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
  }

  /// Coordinate `dim` of destination `i`, wrapped if need be (SX4). `rows` are
  /// the row coordinates, empty if the coordinate does not depend on them.
  Value buildCoordinate(unsigned i, unsigned dim, ValueRange rows) {
    SmallVector<Value> operands(grid);
    llvm::append_range(operands, coordinates);
    if (rows.empty())
      operands.append(write.getRowRank(i), grid.front()); // not used
    else
      llvm::append_range(operands, rows);
    AffineMap map = write.getMap(i).getSubMap({dim});
    Value coordinate = b.createOrFold<affine::AffineApplyOp>(map, operands);
    if (write.getNegative() != NegativePolicy::wrap ||
        !write.needsBoundsCheck(i, dim) || !write.mayBeNegative(i, dim))
      return coordinate;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value isNegative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, coordinate, zero);
    Value wrapped =
        arith::AddIOp::create(b, coordinate, createSize(b, dests[i], dim));
    return arith::SelectOp::create(b, isNegative, wrapped, coordinate);
  }

  /// SX5: adds the test of `coordinate` to `inBounds`. One unsigned comparison
  /// covers negative coordinates too.
  void addBoundsCheck(unsigned i, unsigned dim, Value coordinate,
                      Value &inBounds) {
    if (write.getOutOfBounds() == BoundsPolicy::undefined ||
        !write.needsBoundsCheck(i, dim))
      return;
    Value inside = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult, coordinate, createSize(b, dests[i], dim));
    inBounds = inBounds ? arith::AndIOp::create(b, inBounds, inside) : inside;
  }

  void trapUnless(unsigned i, Value inBounds) {
    if (inBounds && write.getOutOfBounds() == BoundsPolicy::trap)
      cf::AssertOp::create(b, inBounds,
                           "SX5: index out of bounds in destination " +
                               std::to_string(i));
  }

  void prepareDestination(unsigned i) {
    Destination dest;
    dest.extents = createRowExtents(b, write, i, dests[i], values[i]);
    dest.numElements = createProduct(b, dest.extents);
    for (unsigned dim = 0, e = write.getDestType(i).getRank(); dim < e; ++dim) {
      if (dependsOnRow(i, dim)) {
        dest.fixed.push_back({});
        continue;
      }
      Value coordinate = buildCoordinate(i, dim, {});
      addBoundsCheck(i, dim, coordinate, dest.inBounds);
      dest.fixed.push_back(coordinate);
    }
    trapUnless(i, dest.inBounds);
    destinations.push_back(std::move(dest));
  }

  bool dependsOnRow(unsigned i, unsigned dim) {
    AffineExpr expr = write.getMap(i).getResult(dim);
    for (unsigned row = 0, e = write.getRowRank(i); row < e; ++row)
      if (expr.isFunctionOfDim(write.getRowDim(row)))
        return true;
    return false;
  }

  /// for (e = thread; e < elements of all rows; e += threads) put element e.
  void buildWalk() {
    Value total = destinations.front().numElements;
    for (Destination &dest : llvm::drop_begin(destinations))
      total = b.createOrFold<arith::AddIOp>(total, dest.numElements);
    scf::ForOp loop = createThreadLoop(b, gpu::Dimension::y, total);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    buildElement(0, loop.getInductionVar());
  }

  /// Puts element `e` of the rows of destinations `i` and up.
  void buildElement(unsigned i, Value e) {
    if (i + 1 == write.getNumDests())
      return putElement(i, e);
    Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, e,
                                       destinations[i].numElements);
    auto choice = scf::IfOp::create(b, here, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    putElement(i, e);
    b.setInsertionPointToStart(choice.elseBlock());
    Value rest =
        arith::SubIOp::create(b, e, destinations[i].numElements).getResult();
    buildElement(i + 1, rest);
  }

  void putElement(unsigned i, Value e) {
    Destination &dest = destinations[i];
    SmallVector<Value> rows = delinearize(b, e, dest.extents);
    SmallVector<Value> place(dest.fixed);
    Value rowInBounds;
    for (unsigned dim = 0; dim < place.size(); ++dim) {
      if (place[dim])
        continue;
      place[dim] = buildCoordinate(i, dim, rows);
      addBoundsCheck(i, dim, place[dim], rowInBounds);
    }
    trapUnless(i, rowInBounds);
    Value inBounds = dest.inBounds;
    if (rowInBounds)
      inBounds = inBounds ? arith::AndIOp::create(b, inBounds, rowInBounds)
                          : rowInBounds;

    // Also after an assert: nothing outside the cache is written, whatever the
    // target does once one has failed.
    OpBuilder::InsertionGuard guard(b);
    if (inBounds) {
      auto ifInside = scf::IfOp::create(b, inBounds, /*withElseRegion=*/false);
      b.setInsertionPointToStart(ifInside.thenBlock());
    }
    SmallVector<Value> source;
    for (AffineExpr expr : write.getOrder(i).getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      source.push_back(dim < grid.size() ? grid[dim] : rows[dim - grid.size()]);
    }
    Value element = memref::LoadOp::create(b, values[i], source);
    Value stored = cloneRegion(write.getBody(i), element);
    memref::StoreOp::create(b, stored, dests[i], place);
  }

  WriteOp write;
  Kernel &kernel;
  ImplicitLocOpBuilder b;
  SmallVector<Value> indices, dests, values;
  Value mask;
  SmallVector<Value> grid;
  SmallVector<Value> coordinates; // index values, as `index`
  SmallVector<Destination> destinations;
};
} // namespace

void kvfuse::buildWriteKernel(WriteOp write, Kernel &kernel) {
  kernel.func->setAttr(kTokenKernelAttr, UnitAttr::get(write.getContext()));
  WriteKernelBuilder(write, kernel).build();
}
