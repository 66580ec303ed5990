//===- KVWriteCanonicalize.cpp - kv.write: canonicalization ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::kv;

/// Does destination `i` of `op` mean the same with `map`, whose coordinates
/// have the same values? Not if a row coordinate is no longer there, or stands
/// alone where it did not before, and the other way round: what stands alone
/// has to cover the cache exactly (SX10). `firstRow` is the first row dimension
/// of `map`.
static bool keepsRows(WriteOp op, unsigned i, AffineMap map,
                      unsigned firstRow) {
  for (unsigned row = 0, e = op.getRowRank(i); row < e; ++row)
    if (!map.isFunctionOfDim(firstRow + row))
      return false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto bare = dyn_cast<AffineDimExpr>(expr);
    bool isRow = bare && bare.getPosition() >= firstRow;
    if (isRow != op.getBareRow(i, dim).has_value())
      return false;
  }
  return true;
}

namespace {
/// write ... map(m) -> write ... map(simplify(m)): the same coordinates.
struct SimplifyMaps : OpRewritePattern<WriteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WriteOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < op.getNumDests(); ++i) {
      AffineMap map = simplifyAffineMap(op.getMap(i));
      maps.push_back(keepsRows(op, i, map, op.getRowDim(0)) ? map
                                                            : op.getMap(i));
    }
    ArrayAttr simplified = rewriter.getAffineMapArrayAttr(maps);
    if (simplified == op.getMaps())
      return rewriter.notifyMatchFailure(op, "expected maps that simplify");
    rewriter.modifyOpInPlace(op, [&] { op.setMapsAttr(simplified); });
    return success();
  }
};

/// write at(%a, %a, %b) -> write at(%a), where no map and no region `where`
/// uses %b: coordinates and skipped tokens depend on what is used only. One
/// index operand stays in any case, for its shape is the grid.
struct DropIndices : OpRewritePattern<WriteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WriteOp op,
                                PatternRewriter &rewriter) const override {
    llvm::MapVector<Value, unsigned> firstUse;
    for (auto [index, value] : llvm::enumerate(op.getIndices()))
      if (isUsed(op, index))
        firstUse.insert({value, index});
    if (firstUse.empty())
      firstUse.insert({op.getIndices()[0], 0});
    if (firstUse.size() == op.getNumIndices())
      return rewriter.notifyMatchFailure(op, "expected an index operand that "
                                             "is not needed");

    unsigned gridRank = op.getGridRank();
    SmallVector<AffineExpr> prefix;
    for (unsigned dim = 0; dim < gridRank; ++dim)
      prefix.push_back(rewriter.getAffineDimExpr(dim));
    for (Value value : op.getIndices()) {
      // What is not used may get any number.
      auto *it = firstUse.find(value);
      unsigned place = it == firstUse.end() ? 0 : it - firstUse.begin();
      prefix.push_back(rewriter.getAffineDimExpr(gridRank + place));
    }
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < op.getNumDests(); ++i) {
      SmallVector<AffineExpr> dims(prefix);
      for (unsigned row = 0, e = op.getRowRank(i); row < e; ++row)
        dims.push_back(
            rewriter.getAffineDimExpr(gridRank + firstUse.size() + row));
      unsigned firstRow = gridRank + firstUse.size();
      maps.push_back(op.getMap(i).replaceDimsAndSymbols(
          dims, {}, firstRow + op.getRowRank(i), 0));
      if (!keepsRows(op, i, maps.back(), firstRow))
        return rewriter.notifyMatchFailure(op, "expected equal index values "
                                               "that do not cancel out");
    }
    rewriter.modifyOpInPlace(op, [&] {
      if (op.hasWhere())
        keepArguments(op, firstUse, rewriter);
      op.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      op.getIndicesMutable().assign(
          llvm::to_vector(llvm::make_first_range(firstUse)));
    });
    return success();
  }

private:
  /// Does a map or the region `where` use index operand `index`?
  static bool isUsed(WriteOp op, unsigned index) {
    if (op.hasWhere() && !op.getWhere().getArgument(index).use_empty())
      return true;
    for (unsigned i = 0; i < op.getNumDests(); ++i)
      if (op.getMap(i).isFunctionOfDim(op.getGridRank() + index))
        return true;
    return false;
  }

  /// Leaves the region `where` one argument per index operand in `firstUse`.
  static void keepArguments(WriteOp op,
                            const llvm::MapVector<Value, unsigned> &firstUse,
                            PatternRewriter &rewriter) {
    Block &where = op.getWhere().front();
    BitVector dropped(op.getNumIndices(), true);
    for (auto [value, index] : firstUse)
      dropped.reset(index);
    for (unsigned index : dropped.set_bits()) {
      const auto *it = firstUse.find(op.getIndices()[index]);
      if (it != firstUse.end())
        rewriter.replaceAllUsesWith(where.getArgument(index),
                                    where.getArgument(it->second));
    }
    where.eraseArguments(dropped);
  }
};

/// write(w = write(c)) -> w, the same rows at the same places: they hold what
/// is written already, or, of tokens with equal coordinates, what one of them
/// writes (SX7).
struct FoldRepetition : OpRewritePattern<WriteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WriteOp op,
                                PatternRewriter &rewriter) const override {
    auto previous = op.getDests()[0].getDefiningOp<WriteOp>();
    if (!previous || !op.repeats(previous))
      return rewriter.notifyMatchFailure(op, "expected a repeated write");
    rewriter.replaceOp(op, previous);
    return success();
  }
};

/// write(..., cast(%x), ...) -> cast(write(..., %x, ...)), where the cast only
/// forgot static sizes. Upstream's pattern for all operations in destination
/// style says the same, but clones the first block of every region, and `where`
/// may have none; the higher benefit keeps it away from here.
struct FoldTensorCasts : OpRewritePattern<WriteOp> {
  FoldTensorCasts(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(WriteOp op,
                                PatternRewriter &rewriter) const override {
    if (!tensor::hasFoldableTensorCastOperand(op))
      return rewriter.notifyMatchFailure(op, "expected a tensor.cast to fold");
    SmallVector<Type> types(op->getResultTypes());
    auto dps = cast<DestinationStyleOpInterface>(op.getOperation());
    SmallVector<Value> operands =
        tensor::getUpdatedOperandsAfterCastOpFolding(dps, types);
    auto folded = WriteOp::create(rewriter, op.getLoc(), types, operands,
                                  op->getAttrs(), op->getNumRegions());
    for (auto [to, from] :
         llvm::zip_equal(folded->getRegions(), op->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    SmallVector<Value> results(folded.getResults());
    for (auto [result, type] : llvm::zip_equal(results, op.getResultTypes()))
      if (result.getType() != type)
        result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void WriteOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                          MLIRContext *context) {
  results.add<DropIndices, FoldRepetition, FoldTensorCasts, SimplifyMaps>(
      context);
}
