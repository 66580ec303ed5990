//===- FloatFormat.cpp - What casts know of float types -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormat.h"

using namespace llvm;
using namespace kvfuse;

static uint32_t getBits(const APFloat &value) {
  return value.bitcastToAPInt().getZExtValue();
}

FloatFormat::FloatFormat(const llvm::fltSemantics &semantics)
    : width(APFloat::semanticsSizeInBits(semantics)),
      mantissaBits(APFloat::semanticsPrecision(semantics) - 1),
      bias(1 - APFloat::semanticsMinExponent(semantics)),
      hasInfinity(APFloat::semanticsHasInf(semantics)),
      largest(getBits(APFloat::getLargest(semantics))),
      nan(getBits(APFloat::getNaN(semantics))),
      overflow(hasInfinity ? getBits(APFloat::getInf(semantics)) : nan) {}

bool kvfuse::haveSameExponents(const FloatFormat &from, const FloatFormat &to) {
  return from.hasInfinity && to.hasInfinity && from.bias == to.bias &&
         from.getExponentMask() == to.getExponentMask();
}

bool kvfuse::canWiden(const FloatFormat &from, const FloatFormat &to) {
  if (!to.hasInfinity || from.mantissaBits > to.mantissaBits)
    return false;
  int rebias = to.bias - from.bias;
  return haveSameExponents(from, to) ||
         (rebias >= static_cast<int>(from.mantissaBits) &&
          from.getExponentMask() + rebias < to.getExponentMask());
}

bool kvfuse::canNarrow(const FloatFormat &from, const FloatFormat &to) {
  if (!from.hasInfinity || from.mantissaBits <= to.mantissaBits)
    return false;
  int rebias = from.bias - to.bias;
  return haveSameExponents(from, to) ||
         (rebias > static_cast<int>(to.mantissaBits) &&
          from.getExponentMask() - rebias > to.getExponentMask());
}
