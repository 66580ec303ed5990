//===- IndexSimplify.cpp - Simplify coordinates by ranges -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Let c > 0 be the divisor, and the dividend c * x + r. Whatever r is,
//
//   (c * x + r) floordiv c  =  x + r floordiv c
//   (c * x + r) mod c       =  r mod c
//
// The rest r is divided by this law: let g > 0 divide c, and let the rest be
// g * y + q, where floor(q / g) is the same number k for all q in their range.
// Then q = g * k + q' with q' in [0, g), so that r = g * (y + k) + q', and
//
//   r floordiv c  =  (y + k) floordiv (c / g)
//   r mod c       =  g * ((y + k) mod (c / g)) + (q - g * k)
//
// The largest g tells most. For g = c no division is left: y is 0, the quotient
// is k, and the remainder q - g * k.
//
//===----------------------------------------------------------------------===//

#include "IndexSimplify.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace kvfuse;

ConstantIntRanges ExprRanges::getRange(AffineExpr expr) const {
  return intrange::inferAffineExpr(expr, dims, symbols);
}

ConstantIntRanges kvfuse::getCoordinateRange(int64_t size) {
  APInt last = ShapedType::isDynamic(size)
                   ? APInt::getSignedMaxValue(64)
                   : APInt(64, std::max<int64_t>(size - 1, 0));
  return ConstantIntRanges::fromSigned(APInt(64, 0), last);
}

/// The terms of `factor` times the sum `expr`.
static void collectTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms,
                         int64_t factor = 1) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add) {
    collectTerms(binary.getLHS(), terms, factor);
    collectTerms(binary.getRHS(), terms, factor);
    return;
  }
  if (binary && binary.getKind() == AffineExprKind::Mul) {
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    int64_t product;
    if (constant && !llvm::MulOverflow(factor, constant.getValue(), product))
      return collectTerms(binary.getLHS(), terms, product);
  }
  terms.push_back(expr * factor);
}

/// The number k that floor(expr / divisor) always is, if it is only one.
static std::optional<int64_t> getQuotient(AffineExpr expr, int64_t divisor,
                                          const ExprRanges &ranges) {
  ConstantIntRanges range = ranges.getRange(expr);
  int64_t low = llvm::divideFloorSigned(range.smin().getSExtValue(), divisor);
  int64_t high = llvm::divideFloorSigned(range.smax().getSExtValue(), divisor);
  return low == high ? std::optional(low) : std::nullopt;
}

namespace {
/// A sum as factor * multiple + rest.
struct Split {
  AffineExpr multiple, rest;
};
} // namespace

static Split splitSum(AffineExpr sum, int64_t factor) {
  AffineExpr zero = getAffineConstantExpr(0, sum.getContext());
  Split split{zero, zero};
  SmallVector<AffineExpr> terms;
  collectTerms(sum, terms);
  for (AffineExpr term : terms)
    if (term.isMultipleOf(factor))
      split.multiple = split.multiple + term.floorDiv(factor);
    else
      split.rest = split.rest + term;
  return split;
}

/// Common divisors of `divisor` and a term of `sum`, the largest first.
static SmallVector<int64_t> getFactors(AffineExpr sum, int64_t divisor) {
  SmallVector<AffineExpr> terms;
  collectTerms(sum, terms);
  SmallVector<int64_t> factors{divisor};
  for (AffineExpr term : terms)
    factors.push_back(std::gcd(term.getLargestKnownDivisor(), divisor));
  llvm::sort(factors, std::greater<>());
  factors.erase(llvm::unique(factors), factors.end());
  return factors;
}

/// A floor division or remainder by a positive constant.
static AffineExpr simplifyDivision(AffineBinaryOpExpr division,
                                   const ExprRanges &ranges) {
  auto constant = dyn_cast<AffineConstantExpr>(division.getRHS());
  if (!constant || constant.getValue() <= 0)
    return division;
  int64_t divisor = constant.getValue();
  bool isQuotient = division.getKind() == AffineExprKind::FloorDiv;
  auto [outside, rest] = splitSum(division.getLHS(), divisor);
  if (!isQuotient)
    outside = getAffineConstantExpr(0, division.getContext());

  for (int64_t factor : getFactors(rest, divisor)) {
    if (factor == 1)
      break;
    auto [multiple, low] = splitSum(rest, factor);
    std::optional<int64_t> quotient = getQuotient(low, factor, ranges);
    if (!quotient)
      continue;
    multiple = multiple + *quotient;
    if (isQuotient)
      return outside + multiple.floorDiv(divisor / factor);
    return (multiple % (divisor / factor)) * factor +
           (low - factor * *quotient);
  }
  return outside + (isQuotient ? rest.floorDiv(divisor) : rest % divisor);
}

static bool hasFloorDivision(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= part.getKind() == AffineExprKind::FloorDiv;
  });
  return found;
}

AffineExpr kvfuse::simplifyByRanges(AffineExpr expr, const ExprRanges &ranges) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = simplifyByRanges(binary.getLHS(), ranges);
  AffineExpr rhs = simplifyByRanges(binary.getRHS(), ranges);
  AffineExpr result = getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  AffineExprKind kind = result.getKind();
  if (kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod)
    return simplifyDivision(cast<AffineBinaryOpExpr>(result), ranges);
  if (kind != AffineExprKind::Add)
    return result;
  // Upstream turns s - (s floordiv 32) * 32 into s mod 32, and (s floordiv 32)
  // * 32 + s mod 32 into s. It also takes remainders apart to share the floor
  // division; then pages and offsets would no longer be seen.
  if (!hasFloorDivision(result))
    return result;
  AffineExpr flat =
      simplifyAffineExpr(result, ranges.dims.size(), ranges.symbols.size());
  return hasFloorDivision(flat) ? result : flat;
}
