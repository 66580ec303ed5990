//===- LinearForm.cpp - Affine expressions as sums ------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Analysis/LinearForm.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::kv;

LogicalResult LinearForm::add(AffineExpr expr, int64_t factor) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    auto sum = llvm::checkedMulAdd(value.getValue(), factor, constant);
    constant = sum.value_or(0);
    return success(sum.has_value());
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(add(binary.getLHS(), factor)) &&
                   succeeded(add(binary.getRHS(), factor)));
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
      auto product = llvm::checkedMul(scale.getValue(), factor);
      return product ? add(binary.getLHS(), *product) : failure();
    }
  auto sum = llvm::checkedAdd(terms[expr], factor);
  terms[expr] = sum.value_or(0);
  return success(sum.has_value());
}

LogicalResult LinearForm::recombine() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [term, factor] : terms) {
      auto remainder = dyn_cast<AffineBinaryOpExpr>(term);
      if (!remainder || term.getKind() != AffineExprKind::Mod || factor == 0)
        continue;
      auto divisor = dyn_cast<AffineConstantExpr>(remainder.getRHS());
      if (!divisor)
        continue;
      AffineExpr dividend = remainder.getLHS();
      auto *quotient = terms.find(dividend.floorDiv(divisor));
      if (quotient == terms.end() ||
          llvm::checkedMul(factor, divisor.getValue()) != quotient->second)
        continue;
      int64_t scale = factor;
      terms[term] = quotient->second = 0;
      if (failed(add(dividend, scale)))
        return failure();
      changed = true;
      break;
    }
  }
  return success();
}

Interval LinearForm::getInterval(ArrayRef<Interval> dims,
                                 std::optional<int64_t> modulus) const {
  Interval sum{constant, constant};
  for (auto [term, factor] : terms)
    if (!modulus || !(term * factor).isMultipleOf(*modulus))
      sum = sum + kv::getInterval(term, dims) * factor;
  return sum;
}

void LinearForm::collectFactors(llvm::SetVector<int64_t> &factors) const {
  for (auto [term, factor] : terms)
    factors.insert(factor);
}
