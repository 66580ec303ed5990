//===- ChainFuser.cpp - One write and its chain ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChainFuser.h"

#include "MaskBuilder.h"
#include "TensorSize.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Choosing roots
//===----------------------------------------------------------------------===//

std::optional<Fault> ChainFuser::analyze(IndexRanges &ranges) {
  TokenGrid own(write);
  std::optional<TokenGrid> split = TokenGrid::trySplit(write);
  SmallVector<const TokenGrid *> grids;
  if (split)
    grids.push_back(&*split);
  grids.push_back(&own);
  for (const TokenGrid *grid : grids) {
    llvm::SmallBitVector span;
    if (tryPlan(ranges, *grid, RootKind::Any, span) || fault)
      return fault;
    if (span.any() && (tryPlan(ranges, *grid, RootKind::Span, span) || fault))
      return fault;
  }
  llvm::SmallBitVector span;
  if (tryPlan(ranges, own, RootKind::Whole, span) || fault)
    return fault;

  // The index operands as they are, with the producers of the values.
  IndexAnalysis analysis(ranges, own, RootKind::Whole);
  Plan candidate;
  for (Value index : write.getIndices())
    candidate.exprs.push_back(analysis.addWholeRoot(index));
  llvm::SmallBitVector all(own.getRank(), true);
  planMask(candidate, own, analysis, all, /*isWhole=*/true);
  // Even that may change a map: of equal operands one stays, and p - q + d is d
  // where they are. Without a plan the write stays as it is.
  finishPlan(std::move(candidate), own, analysis, all);
  return fault;
}

bool ChainFuser::tryPlan(IndexRanges &ranges, const TokenGrid &grid,
                         RootKind kind, llvm::SmallBitVector &span) {
  IndexAnalysis analysis(ranges, grid, kind, span);
  if (write.getNegative() == NegativePolicy::undefined)
    analysis.assumeAllNonNegative();
  assumeMask(write, grid, analysis);
  Plan candidate;
  for (Value index : write.getIndices()) {
    candidate.exprs.push_back(analysis.analyze(index));
    fault = analysis.getRejection();
    if (!candidate.exprs.back())
      return false;
  }
  analysis.pruneRoots(candidate.exprs);

  bool isWhole = kind == RootKind::Whole;
  // Of constant indices alone, one stays: its shape is the grid.
  if (isWhole && analysis.getRoots().empty())
    analysis.addWholeRoot(write.getIndices().front());
  llvm::SmallBitVector kept(grid.getRank(), isWhole);
  for (const IndexRoot &root : analysis.getRoots())
    kept |= root.span;
  planMask(candidate, grid, analysis, kept, isWhole);
  span = kept;

  // One token whose number is static.
  auto *unit = llvm::find(grid.getShape(), 1);
  if (kept.none() && unit != grid.getShape().end())
    kept.set(unit - grid.getShape().begin());
  if (kept.none() || analysis.getRoots().empty())
    return false;
  for (const IndexRoot &root : analysis.getRoots())
    if (!isWhole && root.span != span)
      return false;
  if (candidate.mask && candidate.maskSpan != span)
    return false;
  return finishPlan(std::move(candidate), grid, analysis, kept);
}

/// `tensor` without its dimensions of size 1, but for one if the grid `kept` is
/// of one token.
static llvm::SmallBitVector getDropped(Value tensor, const TokenGrid &grid,
                                       const llvm::SmallBitVector &kept) {
  auto type = cast<RankedTensorType>(tensor.getType());
  llvm::SmallBitVector dropped(type.getRank());
  if (kept.all() && !grid.getSplit() && dropped.size() == kept.size())
    return dropped;
  bool keepsUnit = grid.getShape()[kept.find_first()] == 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) == 1 && !keepsUnit)
      dropped.set(dim);
    keepsUnit = false;
  }
  return dropped;
}

bool ChainFuser::finishPlan(Plan candidate, const TokenGrid &grid,
                            IndexAnalysis &analysis,
                            const llvm::SmallBitVector &kept) {
  if (!canMoveWhere(candidate.exprs, grid.getRank()) ||
      !keepsSizes(candidate.exprs, grid, kept))
    return false;
  for (const IndexRoot &root : analysis.getRoots()) {
    llvm::SmallBitVector dropped = getDropped(root.tensor, grid, kept);
    if (dropped.size() - dropped.count() != kept.count())
      return false;
    candidate.roots.push_back({root.tensor, dropped});
  }
  if (candidate.mask)
    candidate.mask->dropped = getDropped(candidate.mask->tensor, grid, kept);

  WriteComposer composer(write, grid, analysis, candidate.exprs, kept);
  for (unsigned i = 0; i < write.getNumDests(); ++i) {
    std::optional<FusedDest> dest = composer.compose(i);
    if (dest)
      fault = dest->fault;
    if (!dest || fault)
      return false;
    candidate.dests.push_back(std::move(*dest));
  }
  plan = std::move(candidate);
  return true;
}

/// The region `where` knows index values only.
bool ChainFuser::canMoveWhere(ArrayRef<AffineExpr> exprs, unsigned gridRank) {
  if (!write.hasWhere())
    return true;
  for (auto [argument, expr] :
       llvm::zip(write.getWhere().getArguments(), exprs))
    for (unsigned dim = 0; dim <= gridRank; ++dim)
      if (!argument.use_empty() && expr.isFunctionOfDim(dim))
        return false;
  return true;
}

/// SX10: index operands of different sizes are an error, also those that do not
/// stay. An operand that a root comes from has its size, in the dimensions that
/// are kept. That of others must be the same for certain.
bool ChainFuser::keepsSizes(ArrayRef<AffineExpr> exprs, const TokenGrid &grid,
                            const llvm::SmallBitVector &kept) {
  auto hasRoot = [&](AffineExpr expr) {
    bool found = false;
    expr.walk([&](AffineExpr part) { found |= isa<AffineSymbolExpr>(part); });
    return found;
  };
  auto *rooted = llvm::find_if(exprs, hasRoot);
  Value model =
      write.getIndices()[rooted == exprs.end() ? 0 : rooted - exprs.begin()];
  for (auto [dim, coord] : llvm::enumerate(grid.getCoords())) {
    bool isKept = false;
    if (grid.getSplit() && coord == grid.getSplit()->whole)
      for (AffineExpr part : grid.getSplit()->parts)
        isKept |= kept.test(cast<AffineDimExpr>(part).getPosition());
    else
      isKept = kept.test(cast<AffineDimExpr>(coord).getPosition());
    for (auto [index, expr] : llvm::zip_equal(write.getIndices(), exprs)) {
      auto type = cast<RankedTensorType>(index.getType());
      bool isSafe = isKept ? index == model || hasRoot(expr) ||
                                 haveSameSize(index, dim, model, dim)
                           : !type.isDynamicDim(dim);
      if (!isSafe)
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Takes the mask into a region if it is computed from the roots; otherwise
/// finds the tensor that it is moved from, and adds its dimensions to `kept`.
void ChainFuser::planMask(Plan &candidate, const TokenGrid &grid,
                          IndexAnalysis &analysis, llvm::SmallBitVector &kept,
                          bool isWhole) {
  Value mask = write.getMask();
  if (!mask)
    return;
  ElementAccess access{mask, llvm::to_vector(grid.getCoords())};
  if (!write.hasWhere()) {
    candidate.where = std::make_unique<Region>();
    OpBuilder builder(write.getContext());
    SmallVector<Type> types(analysis.getRoots().size(), builder.getI64Type());
    SmallVector<Location> locs(types.size(), write.getLoc());
    Block *block = builder.createBlock(candidate.where.get(), {}, types, locs);
    MaskBuilder masks(builder, grid, analysis, block->getArguments());
    Value active = masks.build(access);
    // A mask without slots has a size of its own.
    if (active && !llvm::all_of(block->getArguments(),
                                [](Value slot) { return slot.use_empty(); })) {
      YieldOp::create(builder, write.getLoc(), active);
      return;
    }
    candidate.where.reset();
  }
  candidate.mask = Operand{mask, {}};
  candidate.maskSpan = llvm::SmallBitVector(grid.getRank(), true);
  std::optional<ElementAccess> source = access;
  for (; source && !isWhole; source = getMovedFrom(*source, grid.getSplit())) {
    auto shape = cast<RankedTensorType>(source->tensor.getType()).getShape();
    auto span = getSpan(source->coords, shape, grid.getShape());
    if (!span)
      continue;
    candidate.mask = Operand{source->tensor, {}};
    candidate.maskSpan = *span;
  }
  kept |= candidate.maskSpan;
}

/// The region `where` of the old write, its index values computed from the
/// roots.
void ChainFuser::moveWhere(WriteOp fused) {
  fused.getWhere().takeBody(write.getWhere());
  Block &block = fused.getWhere().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  unsigned numOld = block.getNumArguments();
  SmallVector<AffineExpr> dims;
  for (const Operand &root : plan->roots) {
    dims.push_back(builder.getAffineDimExpr(dims.size()));
    block.addArgument(builder.getI64Type(), root.tensor.getLoc());
  }
  ValueRange slots = block.getArguments().drop_front(numOld);
  for (auto [old, expr] :
       llvm::zip(block.getArguments().take_front(numOld), plan->exprs)) {
    if (auto root = dyn_cast<AffineSymbolExpr>(expr))
      old.replaceAllUsesWith(slots[root.getPosition()]);
    if (old.use_empty())
      continue;
    AffineMap map = AffineMap::get(slots.size(), 0, expr.replaceSymbols(dims));
    old.replaceAllUsesWith(
        ApplyOp::create(builder, fused.getLoc(), map, slots));
  }
  block.eraseArguments(0, numOld);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Erases what computed the operands and has no other user (SM6).
static void eraseDead(SmallVector<Value> worklist) {
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (!def || !isOpTriviallyDead(def))
      continue;
    SmallVector<Value> operands(def->getOperands());
    // A value may be in the worklist twice.
    llvm::erase_if(worklist, [&](Value v) { return v.getDefiningOp() == def; });
    def->erase();
    llvm::append_range(worklist, operands);
  }
}

WriteOp ChainFuser::rewrite(const DenseMap<Value, Value> &replaced) {
  if (!plan)
    return write;
  OpBuilder builder(write);
  auto getCurrent = [&](Value value) {
    Value now = replaced.lookup(value);
    return now ? now : value;
  };
  auto drop = [&](Value tensor, const llvm::SmallBitVector &dims) -> Value {
    if (dims.none())
      return tensor;
    return tensor::dropGivenUnitDims(builder, tensor.getLoc(), tensor, dims);
  };
  SmallVector<Value> indices, values;
  SmallVector<AffineMap> maps, orders;
  SmallVector<bool> boxes;
  for (const Operand &root : plan->roots)
    indices.push_back(drop(getCurrent(root.tensor), root.dropped));
  for (const FusedDest &dest : plan->dests) {
    Value source = applyReshapes(builder, getCurrent(dest.values.source.tensor),
                                 dest.values.reshapes);
    values.push_back(drop(source, dest.dropped));
    maps.push_back(dest.map);
    orders.push_back(dest.order);
    boxes.push_back(dest.box);
  }
  Value mask;
  if (plan->mask)
    mask = drop(getCurrent(plan->mask->tensor), plan->mask->dropped);

  auto fused = WriteOp::create(builder, write.getLoc(), indices, mask,
                               write.getDests(), values, maps, orders, boxes,
                               write.getNegative(), write.getOutOfBounds());
  for (auto [to, from, dest] :
       llvm::zip(fused.getBodies(), write.getBodies(), plan->dests)) {
    to.takeBody(from);
    prependProducers(fused, to, dest.values.producers);
  }
  if (plan->where)
    fused.getWhere().takeBody(*plan->where);
  else if (write.hasWhere())
    moveWhere(fused);

  SmallVector<Value> operands(write->getOperands());
  write->replaceAllUsesWith(fused);
  write.erase();
  eraseDead(operands);
  return fused;
}
