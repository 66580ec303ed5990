//===- CastArithmetic.cpp - Casts in integer arithmetic -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A float is its bits in an i32: the sign, and the magnitude below it, which
// counts up through the representable values. Casts work on the magnitude.
//
//===----------------------------------------------------------------------===//

#include "CastArithmetic.h"
#include "FloatFormat.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace kvfuse;
using mlir::arith::RoundingMode;

/// Does rounding go to one side, whatever is nearer?
static bool isDirected(RoundingMode rounding) {
  return rounding != RoundingMode::to_nearest_even &&
         rounding != RoundingMode::to_nearest_away;
}

namespace {
/// Emits the arithmetic. Values are i32, or i1 where they are compared; or
/// vectors of them.
class CastBuilder : public ImplicitLocOpBuilder {
public:
  /// `like` has the shape of the values: a scalar or vector type.
  CastBuilder(Location loc, OpBuilder &builder, Type like,
              RoundingMode rounding)
      : ImplicitLocOpBuilder(loc, builder), like(like), rounding(rounding) {}

  Value cast(Value bits, const FloatFormat &from, const FloatFormat &to,
             bool saturating);

  /// The type of values whose elements are integers of `width` bits.
  Type getBitsType(unsigned width) {
    Type element = getIntegerType(width);
    auto vector = dyn_cast<VectorType>(like);
    return vector ? vector.clone(element) : element;
  }

private:
  Value widen(Value bits, const FloatFormat &from, const FloatFormat &to);
  Value widenSubnormal(Value magnitude, const FloatFormat &from,
                       const FloatFormat &to);
  Value narrow(Value bits, const FloatFormat &from, const FloatFormat &to,
               bool saturating);
  Value narrowMagnitude(Value magnitude, Value isNegative,
                        const FloatFormat &from, const FloatFormat &to);
  Value shiftRounding(Value value, Value amount, Value isNegative);
  Value getDirected(Value isNegative, Value towardZero, Value away);

  Value constant(uint32_t value) {
    return createScalarOrSplatConstant(*this, getLoc(), getBitsType(32),
                                       APInt(32, value));
  }
  template <typename OpTy> Value emit(Value lhs, Value rhs) {
    return createOrFold<OpTy>(lhs, rhs);
  }
  template <typename OpTy> Value emit(Value lhs, uint32_t rhs) {
    return createOrFold<OpTy>(lhs, constant(rhs));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, uint32_t rhs) {
    return arith::CmpIOp::create(*this, predicate, lhs, constant(rhs));
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(*this, condition, ifTrue, ifFalse);
  }

  Type like;
  RoundingMode rounding;
};
} // namespace

Value CastBuilder::cast(Value bits, const FloatFormat &from,
                        const FloatFormat &to, bool saturating) {
  if (canNarrow(from, to))
    return narrow(bits, from, to, saturating);
  if (canWiden(from, to))
    return widen(bits, from, to);
  // Every format widens to f32, and f32 narrows to every format.
  FloatFormat f32(APFloat::IEEEsingle());
  return narrow(widen(bits, from, f32), f32, to, saturating);
}

Value CastBuilder::widen(Value bits, const FloatFormat &from,
                         const FloatFormat &to) {
  if (haveSameExponents(from, to))
    return emit<arith::ShLIOp>(bits, to.width - from.width);

  Value magnitude = emit<arith::AndIOp>(bits, from.getMagnitudeMask());
  Value aligned =
      emit<arith::ShLIOp>(magnitude, to.mantissaBits - from.mantissaBits);
  Value normal =
      emit<arith::AddIOp>(aligned, (to.bias - from.bias) << to.mantissaBits);
  Value isSubnormal =
      compare(arith::CmpIPredicate::ult, magnitude, 1u << from.mantissaBits);
  Value result =
      select(isSubnormal, widenSubnormal(magnitude, from, to), normal);
  result = select(compare(arith::CmpIPredicate::eq, magnitude, 0), magnitude,
                  result);

  if (from.isNaNNegativeZero()) {
    Value isNaN = compare(arith::CmpIPredicate::eq, bits, from.nan);
    result = select(isNaN, constant(to.nan), result);
  } else {
    Value isSpecial =
        compare(arith::CmpIPredicate::ugt, magnitude, from.largest);
    Value special = from.hasInfinity ? emit<arith::OrIOp>(aligned, to.overflow)
                                     : constant(to.nan);
    result = select(isSpecial, special, result);
  }
  Value sign = emit<arith::AndIOp>(bits, from.getSignBit());
  return emit<arith::OrIOp>(result,
                            emit<arith::ShLIOp>(sign, to.width - from.width));
}

/// Normalizes a subnormal magnitude other than zero, by halving steps.
Value CastBuilder::widenSubnormal(Value magnitude, const FloatFormat &from,
                                  const FloatFormat &to) {
  // The leading bit is below the place of the implicit one by at least one.
  Value mantissa =
      emit<arith::ShLIOp>(magnitude, to.mantissaBits - from.mantissaBits + 1);
  // The implicit one adds one to the exponent field.
  Value exponent = constant((to.bias - from.bias - 1) << to.mantissaBits);
  for (unsigned step = llvm::bit_floor(from.mantissaBits - 1); step;
       step /= 2) {
    Value isLow = compare(arith::CmpIPredicate::ult, mantissa,
                          1u << (to.mantissaBits - step + 1));
    mantissa = select(isLow, emit<arith::ShLIOp>(mantissa, step), mantissa);
    exponent =
        select(isLow, emit<arith::SubIOp>(exponent, step << to.mantissaBits),
               exponent);
  }
  return emit<arith::AddIOp>(exponent, mantissa);
}

Value CastBuilder::narrow(Value bits, const FloatFormat &from,
                          const FloatFormat &to, bool saturating) {
  Value magnitude = emit<arith::AndIOp>(bits, from.getMagnitudeMask());
  Value isNegative = compare(arith::CmpIPredicate::ne,
                             emit<arith::AndIOp>(bits, from.getSignBit()), 0);
  Value result = narrowMagnitude(magnitude, isNegative, from, to);

  // With the same exponents, what rounds past the largest value is infinity by
  // itself. Otherwise all that does, infinity and NaNs too, meets the limit.
  uint32_t limit = saturating ? to.largest : to.overflow;
  bool hasLimit = !haveSameExponents(from, to);
  if (hasLimit && isDirected(rounding)) {
    // Toward zero a number stops at the largest one, but infinity does not.
    Value most =
        getDirected(isNegative, constant(to.largest), constant(to.overflow));
    Value isNumber =
        compare(arith::CmpIPredicate::ult, magnitude, from.overflow);
    result = emit<arith::MinUIOp>(
        result, select(isNumber, most, constant(to.overflow)));
  } else if (hasLimit) {
    result = emit<arith::MinUIOp>(result, limit);
  }
  if (!hasLimit || limit != to.nan) {
    Value isNaN =
        compare(arith::CmpIPredicate::ugt, magnitude, from.getLargestNumber());
    result = select(isNaN, constant(to.nan), result);
  }

  Value sign = emit<arith::AndIOp>(
      emit<arith::ShRUIOp>(bits, from.width - to.width), to.getSignBit());
  if (to.isNaNNegativeZero()) {
    Value isZero = compare(arith::CmpIPredicate::eq, result, 0);
    sign = select(isZero, result, sign);
  }
  return emit<arith::OrIOp>(result, sign);
}

/// Rounds a magnitude to the mantissa of `to`. Numbers above its largest value
/// give magnitudes above it; NaNs give any.
Value CastBuilder::narrowMagnitude(Value magnitude, Value isNegative,
                                   const FloatFormat &from,
                                   const FloatFormat &to) {
  unsigned normalShift = from.mantissaBits - to.mantissaBits;
  if (haveSameExponents(from, to))
    return shiftRounding(magnitude, constant(normalShift), isNegative);

  // Below the normal values of `to`, each exponent further down shifts out one
  // more bit, and the exponent field stays at one: the implicit bit.
  unsigned rebias = from.bias - to.bias;
  unsigned longestShift = normalShift + rebias + 1;
  Value exponent = emit<arith::ShRUIOp>(magnitude, from.mantissaBits);
  Value shift = emit<arith::MaxSIOp>(
      emit<arith::SubIOp>(constant(longestShift), exponent),
      constant(normalShift));
  Value exponentChange = emit<arith::ShLIOp>(
      emit<arith::SubIOp>(shift, normalShift + rebias), from.mantissaBits);
  Value rebiased = emit<arith::AddIOp>(magnitude, exponentChange);
  // A shift by 31 leaves nothing of a significand, as every longer one.
  if (longestShift > 31)
    shift = emit<arith::MinUIOp>(shift, 31u);
  Value result = shiftRounding(rebiased, shift, isNegative);
  // Zero has got an implicit bit, too, which only counts away from zero.
  if (!isDirected(rounding))
    return result;
  return select(compare(arith::CmpIPredicate::eq, magnitude, 0), magnitude,
                result);
}

/// Divides by two to the power of `amount`, which is from 1 to 31; the sum of
/// `value` and the divisor must fit.
Value CastBuilder::shiftRounding(Value value, Value amount, Value isNegative) {
  // The first bits of `ones`, as many as are shifted out.
  auto shiftedOut = [&](uint32_t ones) {
    return emit<arith::ShRUIOp>(constant(ones),
                                emit<arith::SubIOp>(constant(32), amount));
  };
  constexpr uint32_t belowHalf = 0x7fffffff, half = 0x80000000, all = ~0u;
  Value addend;
  if (rounding == RoundingMode::to_nearest_even) {
    Value isOdd = emit<arith::AndIOp>(emit<arith::ShRUIOp>(value, amount), 1u);
    addend = emit<arith::AddIOp>(shiftedOut(belowHalf), isOdd);
  } else if (rounding == RoundingMode::to_nearest_away) {
    addend = shiftedOut(half);
  } else {
    addend = getDirected(isNegative, constant(0), shiftedOut(all));
  }
  return emit<arith::ShRUIOp>(emit<arith::AddIOp>(value, addend), amount);
}

/// The one of two values that goes with the direction of rounding.
Value CastBuilder::getDirected(Value isNegative, Value towardZero, Value away) {
  if (rounding == RoundingMode::upward)
    return select(isNegative, towardZero, away);
  if (rounding == RoundingMode::downward)
    return select(isNegative, away, towardZero);
  return towardZero;
}

FloatType kvfuse::getScalarOrVectorFloat(Type type) {
  return isa<ShapedType>(type) && !isa<VectorType>(type)
             ? FloatType()
             : dyn_cast<FloatType>(getElementTypeOrSelf(type));
}

Value kvfuse::createCast(OpBuilder &opBuilder, Location loc, Value input,
                         Type to, RoundingMode rounding, bool saturating) {
  CastBuilder builder(loc, opBuilder, to, rounding);
  FloatType from = getScalarOrVectorFloat(input.getType());
  FloatType toFloat = getScalarOrVectorFloat(to);
  Value bits = arith::BitcastOp::create(
      builder, builder.getBitsType(from.getWidth()), input);
  if (from.getWidth() < 32)
    bits = arith::ExtUIOp::create(builder, builder.getBitsType(32), bits);
  bits = builder.cast(bits, FloatFormat(from.getFloatSemantics()),
                      FloatFormat(toFloat.getFloatSemantics()), saturating);
  if (toFloat.getWidth() < 32)
    bits = arith::TruncIOp::create(
        builder, builder.getBitsType(toFloat.getWidth()), bits);
  return arith::BitcastOp::create(builder, to, bits);
}
