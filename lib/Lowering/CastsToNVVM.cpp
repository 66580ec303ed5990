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
#include "mlir/Dialect/Math/IR/Math.h"
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
  Converter(Location loc, OpBuilder &builder, VectorType type)
      : ImplicitLocOpBuilder(loc, builder), type(type) {}

  /// `input`, of f32, as `type`.
  Value convert(Value input, bool saturating);

private:
  Value constant(float value) {
    return arith::ConstantOp::create(
        *this, DenseElementsAttr::get(type.clone(getF32Type()), value));
  }
  Value constant(unsigned width, uint64_t value) {
    return arith::ConstantOp::create(
        *this, DenseElementsAttr::get(type.clone(getIntegerType(width)),
                                      APInt(width, value)));
  }
  /// Elements of `input` whose magnitude is `predicate` the limit.
  Value compareMagnitude(Value input, arith::CmpFPredicate predicate,
                         float limit) {
    return arith::CmpFOp::create(
        *this, predicate, math::AbsFOp::create(*this, input), constant(limit));
  }
  /// The bytes of the elements, saturated.
  Value convertPairs(Value input);
  Value insertInfinities(Value bytes, Value input);

  VectorType type;
};
} // namespace

Value Converter::convertPairs(Value input) {
  SmallVector<Value> pairs;
  for (int64_t i = 0, e = type.getNumElements(); i < e; i += 2) {
    Value low = vector::ExtractOp::create(*this, input, i);
    Value high =
        i + 1 == e ? low : vector::ExtractOp::create(*this, input, i + 1);
    // The first operand goes into the high byte.
    pairs.push_back(NVVM::ConvertF32x2ToF8x2Op::create(
        *this, getI16Type(), high, low, NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false,
        type.getElementType()));
  }
  int64_t count = pairs.size();
  Value words = vector::FromElementsOp::create(
      *this, VectorType::get(count, getI16Type()), pairs);
  Value bytes = vector::BitCastOp::create(
      *this, VectorType::get(2 * count, getI8Type()), words);
  if (2 * count == type.getNumElements())
    return bytes;
  auto positions = llvm::to_vector(llvm::seq<int64_t>(type.getNumElements()));
  return vector::ShuffleOp::create(*this, bytes, bytes, positions);
}

/// f8E5M2 has infinities, which begin half a step above the largest number.
Value Converter::insertInfinities(Value bytes, Value input) {
  Value isInfinite =
      compareMagnitude(input, arith::CmpFPredicate::OGE, 61440.0f);
  Value bits = arith::BitcastOp::create(*this, type.clone(getI32Type()), input);
  Value top = arith::TruncIOp::create(
      *this, type.clone(getI8Type()),
      arith::ShRUIOp::create(*this, bits, constant(32, 24)));
  Value sign = arith::AndIOp::create(*this, top, constant(8, 0x80));
  Value infinity = arith::OrIOp::create(*this, sign, constant(8, 0x7c));
  return arith::SelectOp::create(*this, isInfinite, infinity, bytes);
}

Value Converter::convert(Value input, bool saturating) {
  bool hasInfinities = isa<Float8E5M2Type>(type.getElementType());
  if (!saturating && !hasInfinities) {
    // 464 still rounds to the largest number, 448.
    Value isNaN = compareMagnitude(input, arith::CmpFPredicate::OGT, 464.0f);
    input = arith::SelectOp::create(
        *this, isNaN, constant(std::numeric_limits<float>::quiet_NaN()), input);
  }
  Value bytes = convertPairs(input);
  if (!saturating && hasInfinities)
    bytes = insertInfinities(bytes, input);
  return arith::BitcastOp::create(*this, type, bytes);
}

namespace {
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
    if (input.getType() != wide)
      input = kv::CastOp::create(rewriter, loc, wide, input,
                                 /*saturating=*/false);
    Value result =
        Converter(loc, rewriter, type).convert(input, op.getSaturating());
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
    patterns.add<CastToFloat8>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
