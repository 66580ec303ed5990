//===- FloatFormat.h - What casts know of float types -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_FLOATFORMAT_H
#define KVFUSE_LOWERING_FLOATFORMAT_H

#include "llvm/ADT/APFloat.h"

namespace kvfuse {

/// What the arithmetic needs to know of a float type, one of those that kv.cast
/// takes.
struct FloatFormat {
  explicit FloatFormat(const llvm::fltSemantics &semantics);

  uint32_t getSignBit() const { return 1u << (width - 1); }
  uint32_t getMagnitudeMask() const { return getSignBit() - 1; }
  /// The exponent field of all ones.
  int getExponentMask() const { return (1 << (width - 1 - mantissaBits)) - 1; }
  /// The fnuz types: the bits of -0 are the one NaN, and no zero has a sign.
  bool isNaNNegativeZero() const { return nan == getSignBit(); }
  /// The largest magnitude that is a number; NaNs lie above, unless they are
  /// -0.
  uint32_t getLargestNumber() const { return hasInfinity ? overflow : largest; }

  unsigned width;
  unsigned mantissaBits;
  int bias;
  bool hasInfinity;
  uint32_t largest;
  uint32_t nan;
  /// The magnitude that follows the largest finite one, which is what a value
  /// that rounds past it becomes (SC2): infinity, or else NaN.
  uint32_t overflow;
};

/// Do magnitudes differ only in the length of the mantissa?
bool haveSameExponents(const FloatFormat &from, const FloatFormat &to);

/// Is each value of `from` one of `to`, with subnormals of `from` normal in
/// `to` unless exponents are the same?
bool canWiden(const FloatFormat &from, const FloatFormat &to);

/// Can a magnitude of `from` be rounded to one of `to` as if it were normal?
/// Subnormals of `from` are then so small that they round to zero, and infinity
/// lies above all magnitudes of `to`.
bool canNarrow(const FloatFormat &from, const FloatFormat &to);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_FLOATFORMAT_H
