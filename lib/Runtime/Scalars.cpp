//===- Scalars.cpp - Scalar arguments -------------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kvfuse::runtime;

/// The encoding of `value` in an IEEE format of 16 bits.
static uint16_t encodeFloat(double value, int mantissaBits) {
  int bias = (1 << (14 - mantissaBits)) - 1;
  auto infinity = static_cast<uint16_t>((2 * bias + 1) << mantissaBits);
  auto sign = static_cast<uint16_t>(std::signbit(value) << 15);
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | infinity | (1 << (mantissaBits - 1));
  if (magnitude >= std::ldexp(2.0, bias))
    return sign | infinity;
  if (magnitude == 0)
    return sign;
  // Subnormal numbers have the exponent of the least normal one.
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  double mantissa =
      std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent));
  // The leading bit of a normal mantissa adds one to the exponent, and so does
  // a carry of the rounding, up to infinity.
  return sign | static_cast<uint16_t>(((exponent + bias - 1) << mantissaBits) +
                                      static_cast<int>(mantissa));
}

template <typename T> static ScalarStatus store(T value, int64_t *slot) {
  std::memcpy(slot, &value, sizeof(value));
  return ScalarStatus::Packed;
}

static ScalarStatus packFloat(DLDataType type, double value, int64_t *slot) {
  if (type.code == kDLBfloat)
    return store(encodeFloat(value, /*mantissaBits=*/7), slot);
  if (type.bits == 16)
    return store(encodeFloat(value, /*mantissaBits=*/10), slot);
  if (type.bits == 32)
    return store(static_cast<float>(value), slot);
  return store(value, slot);
}

/// Python has one integer type: a number too large for `type` is an error, and
/// its lower bits are the scalar otherwise, on a little-endian machine.
static ScalarStatus packInteger(DLDataType type, int64_t value, int64_t *slot) {
  bool isUnsigned = type.code == kDLUInt;
  if (type.bits == 64 && isUnsigned && value < 0)
    return ScalarStatus::OutOfRange;
  if (type.bits < 64) {
    int64_t end = int64_t(1) << type.bits;
    int64_t least = isUnsigned ? 0 : -end / 2;
    int64_t greatest = (isUnsigned || isSignless(type) ? end : end / 2) - 1;
    if (value < least || value > greatest)
      return ScalarStatus::OutOfRange;
  }
  return store(value, slot);
}

ScalarStatus kvfuse::runtime::packScalar(DLDataType type,
                                         const TVMFFIAny &value,
                                         int64_t *slot) {
  bool isInteger = value.type_index == kTVMFFIInt;
  switch (type.code) {
  case kDLBool:
    return value.type_index == kTVMFFIBool ? store(value.v_int64 != 0, slot)
                                           : ScalarStatus::WrongKind;
  case kDLInt:
  case kDLUInt:
    return isInteger ? packInteger(type, value.v_int64, slot)
                     : ScalarStatus::WrongKind;
  case kDLFloat:
  case kDLBfloat:
    if (isInteger)
      return packFloat(type, static_cast<double>(value.v_int64), slot);
    return value.type_index == kTVMFFIFloat
               ? packFloat(type, value.v_float64, slot)
               : ScalarStatus::WrongKind;
  default:
    return ScalarStatus::WrongKind;
  }
}
