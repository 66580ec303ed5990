//===- CastsToNVVM.cpp - 8-bit floats by the hardware's conversions -------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hardware rounds to nearest even and stops at the largest number. That is
// SC3; for SC2 what overflows is picked out by a comparison.
//
//===----------------------------------------------------------------------===//

#include "CastArithmetic.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVCASTSTONVVM
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

namespace {
/// Emits one conversion of a vector.
class Converter : public ImplicitLocOpBuilder {
public:
  Converter(Location loc, OpBuilder &builder, VectorType type, bool saturating)
      : ImplicitLocOpBuilder(loc, builder), type(type), saturating(saturating) {
  }

  /// `input`, a vector of f32, as `type`.
  Value convert(Value input);

private:
  Value constant(TypedAttr value) {
    return arith::ConstantOp::create(*this, value);
  }
  /// Is the magnitude of `input` `predicate` the limit?
  Value compareMagnitude(Value input, arith::CmpFPredicate predicate,
                         float limit);
  Value convertPair(Value low, Value high);
  /// `value` if the magnitude of `input` rounds to infinity, otherwise 0.
  Value selectInfinite(Value input, int16_t value);
  /// `input` with NaN in place of what rounds past the largest number.
  Value selectNaN(Value input);

  VectorType type;
  bool saturating;
};
} // namespace

Value Converter::compareMagnitude(Value input, arith::CmpFPredicate predicate,
                                  float limit) {
  // `math.absf` would become a call into CUDA's libdevice.
  Value bits = arith::BitcastOp::create(*this, getI32Type(), input);
  bits = arith::AndIOp::create(*this, bits,
                               constant(getI32IntegerAttr(0x7fffffff)));
  Value magnitude = arith::BitcastOp::create(*this, getF32Type(), bits);
  return arith::CmpFOp::create(*this, predicate, magnitude,
                               constant(getF32FloatAttr(limit)));
}

/// Infinity begins half a step above the largest number.
Value Converter::selectInfinite(Value input, int16_t value) {
  Value isInfinite =
      compareMagnitude(input, arith::CmpFPredicate::OGE, 61440.0f);
  Value some = constant(getI16IntegerAttr(value));
  Value none = constant(getI16IntegerAttr(0));
  return arith::SelectOp::create(*this, isInfinite, some, none);
}

/// 464 still rounds to the largest number, 448.
Value Converter::selectNaN(Value input) {
  Value isNaN = compareMagnitude(input, arith::CmpFPredicate::OGT, 464.0f);
  Value nan =
      constant(getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
  return arith::SelectOp::create(*this, isNaN, nan, input);
}

/// Two elements, the first in the low byte of an i16.
Value Converter::convertPair(Value low, Value high) {
  Type to = type.getElementType();
  bool hasInfinities = isa<Float8E5M2Type>(to);
  if (!saturating && !hasInfinities) {
    low = selectNaN(low);
    high = selectNaN(high);
  }
  // The first operand goes into the high byte.
  Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
      *this, getI16Type(), high, low, NVVM::FPRoundingMode::RN,
      NVVM::SaturationMode::SATFINITE, /*relu=*/false, to);
  if (saturating || !hasInfinities)
    return pair;
  // What overflowed has the bits of the largest number; the next are infinity.
  pair = arith::AddIOp::create(*this, pair, selectInfinite(low, 0x0001));
  return arith::AddIOp::create(*this, pair, selectInfinite(high, 0x0100));
}

Value Converter::convert(Value input) {
  SmallVector<Value> pairs;
  for (int64_t i = 0, e = type.getNumElements(); i < e; i += 2) {
    Value low = vector::ExtractOp::create(*this, input, i);
    Value high =
        i + 1 == e ? low : vector::ExtractOp::create(*this, input, i + 1);
    pairs.push_back(convertPair(low, high));
  }
  int64_t count = pairs.size();
  Value words = vector::FromElementsOp::create(
      *this, VectorType::get(count, getI16Type()), pairs);
  Value bytes = vector::BitCastOp::create(
      *this, VectorType::get(2 * count, getI8Type()), words);
  if (2 * count != type.getNumElements()) {
    auto positions = llvm::to_vector(llvm::seq<int64_t>(type.getNumElements()));
    bytes = vector::ShuffleOp::create(*this, bytes, bytes, positions);
  }
  return arith::BitcastOp::create(*this, type, bytes);
}

/// Do elements of `from`, which are to be f32, lie in registers in pairs? LLVM
/// would permute bytes to take them out one by one.
static bool areHalvesOfRegisters(VectorType from) {
  return from.getElementType().isBF16() && from.getRank() == 1 &&
         from.getNumElements() % 2 == 0;
}

/// Pairs of bf16 as f32: the upper halves of these, with nothing in the lower.
static Value widenPairs(ImplicitLocOpBuilder b, Value input) {
  auto from = cast<VectorType>(input.getType());
  auto words = VectorType::get(from.getNumElements() / 2, b.getI32Type());
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(words, value));
  };
  Value pairs = vector::BitCastOp::create(b, words, input);
  Value low = arith::ShLIOp::create(b, pairs, constant(16));
  Value high = arith::AndIOp::create(
      b, pairs, constant(static_cast<int32_t>(0xffff0000)));
  return arith::BitcastOp::create(
      b, from.clone(b.getF32Type()),
      vector::InterleaveOp::create(b, low, high).getResult());
}

namespace {
struct WidenPairs : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<VectorType>(op.getIn().getType());
    if (!from || !areHalvesOfRegisters(from) ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expected pairs of bf16 to f32");
    rewriter.replaceOp(
        op,
        widenPairs(ImplicitLocOpBuilder(op.getLoc(), rewriter), op.getIn()));
    return success();
  }
};

struct CastToFloat8 : OpRewritePattern<kv::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(kv::CastOp op,
                                PatternRewriter &rewriter) const override {
    FloatType from = getScalarOrVectorFloat(op.getInput().getType());
    FloatType to = getScalarOrVectorFloat(op.getType());
    if (!from || !to || from.getWidth() < 16 || from.getWidth() > 32 ||
        !isa<Float8E4M3FNType, Float8E5M2Type>(to))
      return rewriter.notifyMatchFailure(
          op, "expected 16 or 32 bits to f8E4M3FN or f8E5M2");
    Location loc = op.getLoc();
    auto type = dyn_cast<VectorType>(op.getType());
    Value input = op.getInput();
    if (!type) {
      type = VectorType::get(1, to);
      input =
          vector::BroadcastOp::create(rewriter, loc, type.clone(from), input);
    }
    VectorType wide = type.clone(rewriter.getF32Type());
    if (areHalvesOfRegisters(type.clone(from)))
      input = widenPairs(ImplicitLocOpBuilder(loc, rewriter), input);
    else if (input.getType() != wide)
      input = kv::CastOp::create(rewriter, loc, wide, input,
                                 /*saturating=*/false);
    Value result =
        Converter(loc, rewriter, type, op.getSaturating()).convert(input);
    if (!isa<VectorType>(op.getType()))
      result = vector::ExtractOp::create(rewriter, loc, result, 0);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct KVCastsToNVVMPass
    : public kvfuse::impl::KVCastsToNVVMBase<KVCastsToNVVMPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CastToFloat8, WidenPairs>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
