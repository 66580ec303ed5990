//===- WriteKernel.cpp - The kernel of kv.write ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch for all destinations. Block x has a token, or a few; its threads,
// and grid y, have the groups of elements of its rows, those of destination 0
// first.
//
// Short steps wait for memory, not for arithmetic. So a thread first picks its
// destination, then loads the group and the slot one right after the other, and
// only then computes with the slot: the two latencies pass side by side. Among
// destinations that are alike, such as K and V of a layer, it picks by selects,
// not by a branch.
//
// What is loaded before it is known whether the token is written is in bounds
// all the same. A token that does not exist is replaced by the last one, and
// there is one: nothing is launched without tokens (SX9). The grid is the shape
// of the slots and of the mask, and the values have at least as many tokens
// (SX10, tested on the host), whatever their slots say, padding included. A
// group is loaded early only if all groups of its row are whole.
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "RowWriter.h"
#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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
    for (unsigned i = 0; i < write.getNumDests(); ++i)
      addDestination(i, map(write.getDests()[i]), map(write.getValues()[i]));
  }

  void build() {
    placeTokens();
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

  void placeTokens() {
    SmallVector<Value> sizes;
    for (unsigned dim = 0; dim < write.getGridRank(); ++dim)
      sizes.push_back(createSize(b, indices.front(), dim));
    Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
    if (tokens.size() == 1) {
      tokens.front().grid = delinearize(b, block, sizes);
      return;
    }
    Value count = createProduct(b, sizes);
    Value last = arith::SubIOp::create(b, count, createConstant(1));
    Value first =
        arith::MulIOp::create(b, block, createConstant(tokens.size()));
    tokens.front().grid = delinearize(b, first, sizes);
    for (auto [i, token] : llvm::drop_begin(llvm::enumerate(tokens))) {
      Value linear = arith::AddIOp::create(b, first, createConstant(i));
      token.exists =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, linear, count);
      linear = arith::MinUIOp::create(b, linear, last);
      token.grid = delinearize(b, linear, sizes);
    }
  }

  Value createConstant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  void addDestination(unsigned i, Value cache, Value values) {
    Destination dest{i, i, cache, values, {}, {}, {}};
    dest.extents = createRowExtents(b, write, i, cache, values);
    dest.groupCounts = createGroupCounts(b, write, i, dest.extents);
    dest.numGroups = createProduct(b, dest.groupCounts);
    destinations.push_back(std::move(dest));
  }

  /// Groups of destinations `begin` to `end`, that one excluded.
  Value countGroups(unsigned begin, unsigned end) {
    Value total = destinations[begin].numGroups;
    for (unsigned i = begin + 1; i < end; ++i)
      total = b.createOrFold<arith::AddIOp>(total, destinations[i].numGroups);
    return total;
  }

  /// Puts the groups of all rows, each thread its own; where it is not known
  /// that there are enough threads, for (g = thread; g < groups; g += threads).
  void buildWalk() {
    Value total = countGroups(0, destinations.size());
    OpBuilder::InsertionGuard guard(b);
    if (shape.blocksPerToken) {
      Value thread = createThread(*shape.blocksPerToken);
      enterIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                                       total));
      return buildGroup(0, thread);
    }
    scf::ForOp loop = createThreadLoop(b, gpu::Dimension::y, total);
    b.setInsertionPointToStart(loop.getBody());
    buildGroup(0, loop.getInductionVar());
  }

  /// The number of the thread among those of a token, which has `blocks`.
  Value createThread(int64_t blocks) {
    Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
    if (blocks == 1)
      return thread;
    Value block = gpu::BlockIdOp::create(b, gpu::Dimension::y);
    return arith::AddIOp::create(
        b, arith::MulIOp::create(b, block, createConstant(shape.blockSize)),
        thread);
  }

  /// Puts group `group` of the rows of destinations `i` and up.
  void buildGroup(unsigned i, Value group) {
    unsigned end = i + 1;
    while (end < destinations.size() && areAlike(i, end))
      ++end;
    if (end == destinations.size())
      return putGroup(i, end, group);
    Value count = countGroups(i, end);
    Value here =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, group, count);
    auto choice = scf::IfOp::create(b, here, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    putGroup(i, end, group);
    b.setInsertionPointToStart(choice.elseBlock());
    buildGroup(end, arith::SubIOp::create(b, group, count));
  }

  /// Does the same code serve destinations `i` and `j`, on other memory?
  bool areAlike(unsigned i, unsigned j) {
    return getConstantIntValue(destinations[i].numGroups) &&
           write.getDestType(i) == write.getDestType(j) &&
           write.getValueType(i) == write.getValueType(j) &&
           write.getMap(i) == write.getMap(j) &&
           write.getOrder(i) == write.getOrder(j) &&
           write.getAccess(i) == write.getAccess(j) &&
           OperationEquivalence::isRegionEquivalentTo(
               write.getBody(i).getParent(), write.getBody(j).getParent(),
               OperationEquivalence::IgnoreLocations);
  }

  /// Puts group `group` of destinations `begin` to `end`, that one excluded,
  /// which are alike, and so have equal, known extents.
  void putGroup(unsigned begin, unsigned end, Value group) {
    Destination picked = destinations[begin];
    if (begin + 1 == end)
      return putGroup(picked, group);
    picked.last = end - 1;
    for (unsigned i = begin + 1; i < end; ++i) {
      Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                             group, countGroups(begin, i));
      auto pick = [&](Value behind, Value &value) {
        value = arith::SelectOp::create(b, isBehind, behind, value);
      };
      pick(destinations[i].cache, picked.cache);
      pick(destinations[i].values, picked.values);
    }
    putGroup(picked, arith::RemUIOp::create(b, group, picked.numGroups));
  }

  Value loadIndex(Value index, const Token &token) {
    return memref::LoadOp::create(b, index, token.grid, /*nontemporal=*/false,
                                  getElementAlignment(index));
  }

  void putGroup(const Destination &dest, Value group) {
    SmallVector<Value> rows = delinearize(b, group, dest.groupCounts);
    if (int64_t access = write.getAccess(dest.first); access != 1)
      rows.back() =
          arith::MulIOp::create(b, rows.back(), createConstant(access));
    RowWriter writer(b, write, kernel.mapping, dest, rows);
    auto read = [&](const Token &token) {
      TokenInputs inputs{
          token.grid, token.exists, writer.load(token.grid), {}, {}};
      for (Value index : indices)
        inputs.slots.push_back(loadIndex(index, token));
      if (mask)
        inputs.mask = memref::LoadOp::create(b, mask, token.grid);
      return inputs;
    };
    for (const TokenInputs &inputs : llvm::map_to_vector(tokens, read))
      writer.store(inputs);
  }

  WriteOp write;
  Kernel &kernel;
  ImplicitLocOpBuilder b;
  SmallVector<Value> indices;
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
