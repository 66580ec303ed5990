//===- WriteKernel.cpp - The kernel of kv.write ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch for all destinations. Block x has a token, or a few; its threads,
// and grid y, have the groups of elements of its rows, those of destination 0
// first.
//
// A group is what one access moves: `WriteOp::getAccess` elements along the
// last row coordinate, a vector. Where a group does not lie in its row as a
// whole, or not in the cache without wrapping, its elements are moved one by
// one.
//
// Short steps wait for memory, not for arithmetic. So a thread first picks its
// destination, then loads the group and the slot one right after the other, and
// only then computes with the slot: the two latencies pass side by side.
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
  WriteKernelBuilder(WriteOp write, Kernel &kernel, const LaunchShape &shape)
      : write(write), kernel(kernel),
        b(write.getLoc(), OpBuilder::atBlockEnd(&kernel.func.getBody().back())),
        shape(shape), tokens(shape.tokensPerThread) {
    auto map = [&](Value value) { return kernel.mapping.lookup(value); };
    indices = llvm::map_to_vector(write.getIndices(), map);
    if (write.getMask())
      mask = map(write.getMask());
    dests = llvm::map_to_vector(write.getDests(), map);
    values = llvm::map_to_vector(write.getValues(), map);
  }

  void build() {
    placeTokens();
    for (unsigned i = 0; i < write.getNumDests(); ++i)
      prepareDestination(i);
    buildWalk();
    gpu::ReturnOp::create(b);
  }

private:
  /// One of the tokens of a thread.
  struct Token {
    SmallVector<Value> grid;
    /// Is there such a token? Null if there is. If not, `grid` is another one.
    Value exists;
  };

  /// What is known of the rows of a destination.
  struct Destination {
    SmallVector<Value> extents;
    /// Groups along each row coordinate, and in all.
    SmallVector<Value> groupCounts;
    Value numGroups;
  };

  void placeTokens() {
    SmallVector<Value> sizes;
    for (unsigned dim = 0; dim < write.getGridRank(); ++dim)
      sizes.push_back(createSize(b, indices.front(), dim));
    Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
    if (tokens.size() == 1) {
      tokens.front().grid = delinearize(b, block, sizes);
      return;
    }
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(b, value);
    };
    Value count = createProduct(b, sizes);
    Value last = arith::SubIOp::create(b, count, constant(1));
    Value first = arith::MulIOp::create(b, block, constant(tokens.size()));
    for (auto [i, token] : llvm::enumerate(tokens)) {
      Value linear = arith::AddIOp::create(b, first, constant(i));
      token.exists =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, linear, count);
      linear = arith::MinUIOp::create(b, linear, last);
      token.grid = delinearize(b, linear, sizes);
    }
  }

  /// SX1: an index value is widened, with its sign, before any arithmetic.
  Value loadIndex(Value index, const Token &token) {
    Value slot = memref::LoadOp::create(b, index, token.grid);
    if (slot.getType().isInteger(64))
      return slot;
    return arith::ExtSIOp::create(b, b.getI64Type(), slot);
  }

  /// Is the token written at all? Null if nothing says otherwise.
  Value buildActive(const Token &token, ValueRange slots) {
    Value active = token.exists;
    if (mask)
      active =
          createAnd(b, active, memref::LoadOp::create(b, mask, token.grid));
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
    destinations.push_back(std::move(dest));
  }

  /// Puts the groups of all rows, each thread its own; where it is not known
  /// that there are enough threads, for (g = thread; g < groups; g += threads).
  void buildWalk() {
    Value total = destinations.front().numGroups;
    for (Destination &dest : llvm::drop_begin(destinations))
      total = b.createOrFold<arith::AddIOp>(total, dest.numGroups);
    OpBuilder::InsertionGuard guard(b);
    if (shape.blocksPerToken) {
      Value thread = createThread(b, gpu::Dimension::y);
      enterIf(
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread, total));
      return buildGroup(0, thread);
    }
    scf::ForOp loop = createThreadLoop(b, gpu::Dimension::y, total);
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
    SmallVector<Value> rows =
        delinearize(b, group, destinations[i].groupCounts);
    if (write.getAccess(i) != 1)
      rows.back() = arith::MulIOp::create(b, rows.back(), createAccess(i));
    SmallVector<Value> loaded;
    SmallVector<SmallVector<Value>> slots;
    for (const Token &token : tokens) {
      loaded.push_back(load(i, token, rows));
      slots.push_back(llvm::map_to_vector(
          indices, [&](Value index) { return loadIndex(index, token); }));
    }
    for (auto [token, values, read] : llvm::zip_equal(tokens, loaded, slots))
      store(i, token, rows, values, read);
  }

  /// The group at `rows` of the values, or null if that need not lie in its row
  /// as a whole.
  Value load(unsigned i, const Token &token, ValueRange rows) {
    SmallVector<Value> source = getSource(i, token, rows);
    if (write.getAccess(i) == 1)
      return memref::LoadOp::create(b, values[i], source);
    return hasWholeGroups(i) ? loadVector(i, source) : Value();
  }

  void store(unsigned i, const Token &token, ValueRange rows, Value loaded,
             SmallVector<Value> slots) {
    OpBuilder::InsertionGuard guard(b);
    enterIf(buildActive(token, slots));
    for (Value &slot : slots)
      slot = arith::IndexCastOp::create(b, b.getIndexType(), slot);
    CoordinateBuilder coordinates(write, dests, token.grid, slots);
    SmallVector<Value> place(write.getDestType(i).getRank());
    if (write.getAccess(i) == 1) {
      enterIf(coordinates.locate(b, i, rows, place, {}));
      return storeElement(i, loaded, place);
    }

    enterIf(
        coordinates.locate(b, i, rows, MutableArrayRef(place).drop_back(), {}));
    Value last = coordinates.applyLast(b, i, rows);
    Value isWhole =
        createAnd(b, buildInRow(i, rows.back()),
                  coordinates.buildInBounds(b, i, last, write.getAccess(i)));
    if (isWhole) {
      auto choice = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
      b.setInsertionPointToStart(choice.elseBlock());
      putElements(i, token, rows, place, coordinates);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    place.back() = last;
    if (!loaded)
      loaded = loadVector(i, getSource(i, token, rows));
    storeVector(i, loaded, place);
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
  /// row. `known` has all coordinates but the last.
  void putElements(unsigned i, const Token &token, SmallVector<Value> rows,
                   ArrayRef<Value> known, CoordinateBuilder &coordinates) {
    Value end = arith::AddIOp::create(b, rows.back(), createAccess(i));
    if (!hasWholeGroups(i))
      end = arith::MinUIOp::create(b, end, destinations[i].extents.back());
    auto loop = scf::ForOp::create(b, rows.back(), end,
                                   arith::ConstantIndexOp::create(b, 1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    rows.back() = loop.getInductionVar();
    SmallVector<Value> place(known);
    enterIf(coordinates.locate(b, i, rows, place, {}));
    storeElement(
        i, memref::LoadOp::create(b, values[i], getSource(i, token, rows)),
        place);
  }

  void storeElement(unsigned i, Value element, ValueRange place) {
    Value stored = cloneRegion(b, write.getBody(i), element, kernel.mapping);
    memref::StoreOp::create(b, stored, dests[i], place);
  }

  Value loadVector(unsigned i, ValueRange source) {
    auto type = VectorType::get(write.getAccess(i),
                                write.getValueType(i).getElementType());
    return vector::LoadOp::create(b, type, values[i], source,
                                  /*nontemporal=*/false, getAlignment(type));
  }

  void storeVector(unsigned i, Value elements, ValueRange place) {
    Value stored =
        cloneRegionOnVector(b, write.getBody(i), elements, kernel.mapping);
    vector::StoreOp::create(b, stored, dests[i], place, /*nontemporal=*/false,
                            getAlignment(cast<VectorType>(stored.getType())));
  }

  /// What `access` promises, as far as an access makes use of it: 16 bytes are
  /// what a thread moves at most.
  static llvm::Align getAlignment(VectorType type) {
    return llvm::Align(std::min<int64_t>(
        type.getNumElements() * type.getElementTypeBitWidth() / 8, 16));
  }

  /// Coordinates of the values of `token` at `rows`.
  SmallVector<Value> getSource(unsigned i, const Token &token,
                               ValueRange rows) {
    ArrayRef<Value> grid = token.grid;
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
  const LaunchShape &shape;
  SmallVector<Token> tokens;
  SmallVector<Destination> destinations;
};
} // namespace

void kvfuse::buildWriteKernel(WriteOp write, Kernel &kernel,
                              const LaunchShape &shape) {
  OpBuilder builder(write.getContext());
  kernel.func->setAttr(kTokenKernelAttr,
                       builder.getI64IntegerAttr(shape.tokensPerThread));
  kernel.func.setKnownBlockSize(
      ArrayRef<int32_t>{static_cast<int32_t>(shape.blockSize), 1, 1});
  WriteKernelBuilder(write, kernel, shape).build();
}
