//===- FuseChains.cpp - Compose the chain into the write ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "IndexAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVFUSECHAINS
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Looks for the tensor before the casts that make `value`. `casts` are those,
/// the last one first.
static Value peelCasts(Value value, SmallVectorImpl<CastOp> &casts) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    casts.push_back(cast);
    value = cast.getInput();
  }
  return value;
}

/// write(cast(v), body) -> write(v, body . cast): each element is rounded in
/// the same way, and in the same order.
static void prependCasts(OpBuilder &builder, Region &region,
                         MutableArrayRef<CastOp> casts) {
  if (casts.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  Block &body = region.front();
  builder.setInsertionPointToStart(&body);
  BlockArgument old = body.getArgument(0);
  Value element = body.addArgument(
      getElementTypeOrSelf(casts.back().getInput().getType()), old.getLoc());
  for (CastOp cast : llvm::reverse(casts))
    element = CastOp::create(builder, cast.getLoc(),
                             getElementTypeOrSelf(cast.getType()), element,
                             cast.getSaturating());
  old.replaceAllUsesWith(element);
  body.eraseArgument(0);
}

//===----------------------------------------------------------------------===//
// Mask
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds a mask that is computed from the roots, element by element, in the
/// region `where`.
class MaskAbsorber {
public:
  MaskAbsorber(OpBuilder &builder, const IndexAnalysis &analysis)
      : builder(builder), analysis(analysis) {}

  /// Can `value` be computed from the roots and constants alone?
  bool canAbsorb(Value value) {
    if (isRoot(value) || getScalar(value))
      return true;
    Operation *def = value.getDefiningOp();
    // What was looked at before has been found good, or the answer is no
    // anyway.
    if (!visited.insert(value).second)
      return true;
    return def &&
           isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
               ApplyOp>(def) &&
           llvm::all_of(def->getOperands(),
                        [&](Value operand) { return canAbsorb(operand); });
  }

  /// The scalar form of `value`, at the insertion point; `slots` are the roots.
  Value absorb(Value value, ValueRange slots) {
    if (Value done = scalars.lookup(value))
      return done;
    Value result;
    if (isRoot(value)) {
      result = slots[*analysis.lookupRoot(value)];
    } else if (TypedAttr scalar = getScalar(value)) {
      result = arith::ConstantOp::create(builder, value.getLoc(), scalar);
    } else {
      Operation *def = value.getDefiningOp();
      IRMapping mapping;
      for (Value operand : def->getOperands())
        mapping.map(operand, absorb(operand, slots));
      result = builder.clone(*def, mapping)->getResult(0);
      result.setType(getElementTypeOrSelf(value.getType()));
    }
    return scalars[value] = result;
  }

private:
  /// Is `value` a root as the region sees it, widened to i64?
  bool isRoot(Value value) {
    return getElementTypeOrSelf(value).isInteger(64) &&
           analysis.lookupRoot(value).has_value();
  }
  /// The constant that every element of `value` is, or null.
  TypedAttr getScalar(Value value) {
    if (auto splat = value.getDefiningOp<tensor::SplatOp>())
      value = splat.getInput();
    Attribute attr;
    if (!matchPattern(value, m_Constant(&attr)))
      return {};
    if (auto splat = dyn_cast<SplatElementsAttr>(attr))
      return splat.getSplatValue<TypedAttr>();
    return dyn_cast<IntegerAttr>(attr);
  }

  OpBuilder &builder;
  const IndexAnalysis &analysis;
  llvm::SmallDenseSet<Value> visited;
  DenseMap<Value, Value> scalars;
};
} // namespace

//===----------------------------------------------------------------------===//
// One write
//===----------------------------------------------------------------------===//

namespace {
/// Composes the chain of one write into it.
class ChainFuser {
public:
  explicit ChainFuser(WriteOp write) : write(write), builder(write) {}

  /// Returns true if the write was refused.
  bool run() {
    SmallVector<AffineExpr> exprs;
    for (Value index : write.getIndices()) {
      exprs.push_back(analysis.analyze(index));
      if (!exprs.back()) {
        refuse();
        return true;
      }
    }
    rebuild(exprs);
    return false;
  }

private:
  void refuse() {
    auto [reason, cause] = *analysis.getRejection();
    std::string name = cause->getName().getStringRef().str();
    if (reason == Refusal::MixedDivision)
      emitRefusal(write, reason,
                  "index computed by " + name +
                      ", which does not round down, from values that may be "
                      "negative",
                  "divide with rounding down, or promise that no index is "
                  "negative (negative=undefined)",
                  cause->getLoc());
    else
      emitRefusal(write, reason,
                  "index computed by " + name + " in fewer than 64 bits",
                  "widen the index to 64 bits first", cause->getLoc());
    write->setAttr(kRefusedAttr,
                   builder.getStringAttr(stringifyRefusal(reason)));
  }

  /// The map of destination `i`, over the roots.
  AffineMap composeMap(unsigned i, ArrayRef<AffineExpr> exprs) {
    AffineMap map = write.getMap(i);
    unsigned gridRank = write.getGridRank();
    unsigned numRoots = analysis.getRoots().size();
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < gridRank; ++dim)
      dims.push_back(builder.getAffineDimExpr(dim));
    for (AffineExpr expr : exprs)
      dims.push_back(expr.shiftDims(numRoots, gridRank));
    for (unsigned row = 0; row < write.getRowRank(i); ++row)
      dims.push_back(builder.getAffineDimExpr(gridRank + numRoots + row));
    return simplifyAffineMap(map.replaceDimsAndSymbols(
        dims, {}, gridRank + numRoots + write.getRowRank(i), 0));
  }

  void rebuild(ArrayRef<AffineExpr> exprs) {
    // Of constant indices alone, one stays: its shape is the grid.
    if (analysis.getRoots().empty())
      analysis.addRoot(write.getIndices().front());
    SmallVector<AffineMap> maps, orders;
    SmallVector<Value> values;
    SmallVector<SmallVector<CastOp>> casts(write.getNumDests());
    for (unsigned i = 0; i < write.getNumDests(); ++i) {
      maps.push_back(composeMap(i, exprs));
      orders.push_back(write.getOrder(i));
      values.push_back(peelCasts(write.getValues()[i], casts[i]));
    }
    MaskAbsorber absorber(builder, analysis);
    Value mask = write.getMask();
    bool absorbs = mask && !write.hasWhere() && absorber.canAbsorb(mask);

    auto fused = WriteOp::create(builder, write.getLoc(), analysis.getRoots(),
                                 absorbs ? Value() : mask, write.getDests(),
                                 values, maps, orders, write.getBoxes(),
                                 write.getNegative(), write.getOutOfBounds());
    for (auto [to, from, chain] :
         llvm::zip(fused.getBodies(), write.getBodies(), casts)) {
      to.takeBody(from);
      prependCasts(builder, to, chain);
    }
    if (absorbs)
      buildWhere(fused, absorber, mask);
    else if (write.hasWhere())
      moveWhere(fused, exprs);

    SmallVector<Value> operands(write->getOperands());
    write->replaceAllUsesWith(fused);
    write.erase();
    eraseDead(operands);
  }

  /// where(mask): the comparisons on the roots, as scalars.
  void buildWhere(WriteOp fused, MaskAbsorber &absorber, Value mask) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types(fused.getNumIndices(), builder.getI64Type());
    SmallVector<Location> locs(types.size(), fused.getLoc());
    Block *block = builder.createBlock(&fused.getWhere(), {}, types, locs);
    Value active = absorber.absorb(mask, block->getArguments());
    YieldOp::create(builder, fused.getLoc(), active);
  }

  /// The region `where` of the old write, its index values computed from the
  /// roots.
  void moveWhere(WriteOp fused, ArrayRef<AffineExpr> exprs) {
    OpBuilder::InsertionGuard guard(builder);
    fused.getWhere().takeBody(write.getWhere());
    Block &block = fused.getWhere().front();
    builder.setInsertionPointToStart(&block);
    unsigned numOld = block.getNumArguments();
    for (Value root : analysis.getRoots())
      block.addArgument(builder.getI64Type(), root.getLoc());
    ValueRange slots = block.getArguments().drop_front(numOld);
    for (auto [old, expr] :
         llvm::zip(block.getArguments().take_front(numOld), exprs))
      old.replaceAllUsesWith(
          ApplyOp::create(builder, fused.getLoc(),
                          AffineMap::get(slots.size(), 0, expr), slots));
    block.eraseArguments(0, numOld);
  }

  /// Erases what computed the operands and has no other user (SM6).
  static void eraseDead(SmallVector<Value> worklist) {
    while (!worklist.empty()) {
      Operation *def = worklist.pop_back_val().getDefiningOp();
      if (!def || !isOpTriviallyDead(def))
        continue;
      SmallVector<Value> operands(def->getOperands());
      // A value may be in the worklist twice.
      llvm::erase_if(worklist,
                     [&](Value v) { return v.getDefiningOp() == def; });
      def->erase();
      llvm::append_range(worklist, operands);
    }
  }

  WriteOp write;
  OpBuilder builder;
  IndexAnalysis analysis;
};

struct KVFuseChainsPass : kvfuse::impl::KVFuseChainsBase<KVFuseChainsPass> {
  using KVFuseChainsBase::KVFuseChainsBase;

  void runOnOperation() override {
    SmallVector<WriteOp> writes;
    getOperation()->walk([&](WriteOp write) {
      if (write.hasTensorForm() && !isRefused(write))
        writes.push_back(write);
    });
    for (WriteOp write : writes) {
      Location loc = write.getLoc();
      if (ChainFuser(write).run() && required) {
        emitError(loc, "the write was not fused, and fusing is required");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
