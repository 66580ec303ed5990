//===- Interval.cpp - Bounds of affine expressions ------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/Interval.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kv;

/// `lhs + rhs` or `lhs * rhs`, if both are known and the result has 64 bits.
static std::optional<int64_t> add(std::optional<int64_t> lhs,
                                  std::optional<int64_t> rhs) {
  int64_t result;
  if (!lhs || !rhs || llvm::AddOverflow(*lhs, *rhs, result))
    return std::nullopt;
  return result;
}
static std::optional<int64_t> multiply(std::optional<int64_t> lhs,
                                       int64_t rhs) {
  int64_t result;
  if (!lhs || llvm::MulOverflow(*lhs, rhs, result))
    return std::nullopt;
  return result;
}

Interval mlir::kv::operator+(const Interval &lhs, const Interval &rhs) {
  return {add(lhs.low, rhs.low), add(lhs.high, rhs.high)};
}

Interval mlir::kv::operator*(const Interval &interval, int64_t factor) {
  if (factor == 0)
    return {0, 0};
  Interval result{multiply(interval.low, factor),
                  multiply(interval.high, factor)};
  if (factor < 0)
    std::swap(result.low, result.high);
  return result;
}

Interval mlir::kv::intersect(const Interval &lhs, const Interval &rhs) {
  Interval result = lhs;
  if (rhs.low && (!result.low || *result.low < *rhs.low))
    result.low = rhs.low;
  if (rhs.high && (!result.high || *result.high > *rhs.high))
    result.high = rhs.high;
  return result;
}

Interval mlir::kv::getIntervalBelow(int64_t size) {
  if (ShapedType::isDynamic(size))
    return {0, std::nullopt};
  return {0, size - 1};
}

// Upstream's getBoundForAffineExpr gives up on sums that hold a remainder, such
// as the coordinate (s mod 32) * 132 + r of a byte row.
Interval mlir::kv::getInterval(AffineExpr expr, ArrayRef<Interval> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {};
  Interval lhs = getInterval(binary.getLHS(), dims);
  if (expr.getKind() == AffineExprKind::Add)
    return lhs + getInterval(binary.getRHS(), dims);

  // What remains has a constant on the right; of divisors it is positive (SX2).
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return {};
  int64_t factor = constant.getValue();
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return lhs * factor;
  case AffineExprKind::FloorDiv:
    if (lhs.low)
      lhs.low = llvm::divideFloorSigned(*lhs.low, factor);
    if (lhs.high)
      lhs.high = llvm::divideFloorSigned(*lhs.high, factor);
    return lhs;
  case AffineExprKind::Mod:
    // Inside one period the remainder is monotone.
    if (lhs.low && lhs.high &&
        llvm::divideFloorSigned(*lhs.low, factor) ==
            llvm::divideFloorSigned(*lhs.high, factor))
      return {llvm::mod(*lhs.low, factor), llvm::mod(*lhs.high, factor)};
    return {0, factor - 1};
  default:
    return {};
  }
}
