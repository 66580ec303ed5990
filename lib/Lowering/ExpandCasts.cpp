//===- ExpandCasts.cpp - kv.cast in integer arithmetic --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CastArithmetic.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Lowering/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVEXPANDCASTS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;
using mlir::arith::RoundingMode;

static RoundingMode getRounding(arith::TruncFOp op) {
  return op.getRoundingmode().value_or(RoundingMode::to_nearest_even);
}

namespace {
struct ExpandCast : OpRewritePattern<kv::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(kv::CastOp op,
                                PatternRewriter &rewriter) const override {
    if (!getScalarOrVectorFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "expected scalars or vectors");
    rewriter.replaceOp(
        op, createCast(rewriter, op.getLoc(), op.getInput(), op.getType(),
                       RoundingMode::to_nearest_even, op.getSaturating()));
    return success();
  }
};

/// extf(x) -> kv.cast(x), truncf(x) -> kv.cast(x): the same rounding (SC1,
/// SC2), and truncf with a rounding mode of its own. Left to LLVM they would be
/// calls of a library that need not be there, 8-bit floats would be left
/// behind, and the mode would be forgotten.
template <typename Op> struct CastOfArith : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    FloatType from = getScalarOrVectorFloat(op.getIn().getType());
    FloatType to = getScalarOrVectorFloat(op.getType());
    if (!from || !to || from.getWidth() > 32 || to.getWidth() > 32 ||
        from.getWidth() < 8 || to.getWidth() < 8)
      return rewriter.notifyMatchFailure(
          op, "expected scalars or vectors of 8 to 32 bits");
    if constexpr (std::is_same_v<Op, arith::TruncFOp>)
      if (RoundingMode rounding = getRounding(op);
          rounding != RoundingMode::to_nearest_even) {
        rewriter.replaceOp(op, createCast(rewriter, op.getLoc(), op.getIn(),
                                          op.getType(), rounding,
                                          /*saturating=*/false));
        return success();
      }
    rewriter.replaceOpWithNewOp<kv::CastOp>(op, op.getType(), op.getIn(),
                                            /*saturating=*/false);
    return success();
  }
};

struct KVExpandCastsPass
    : public kvfuse::impl::KVExpandCastsBase<KVExpandCastsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CastOfArith<arith::ExtFOp>, CastOfArith<arith::TruncFOp>,
                 ExpandCast>(&getContext());
    // Casts to the own type and casts of constants fold.
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();

    WalkResult result = getOperation()->walk([](Operation *op) {
      auto truncation = dyn_cast<arith::TruncFOp>(op);
      if (!isa<kv::CastOp>(op) &&
          (!truncation ||
           getRounding(truncation) == RoundingMode::to_nearest_even))
        return WalkResult::advance();
      op->emitOpError("expects scalars or vectors, to be computed in integers");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
