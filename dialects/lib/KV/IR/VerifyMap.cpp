//===- VerifyMap.cpp - Checks of affine maps ------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyMap.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

LogicalResult
mlir::kv::verifyDivisors(AffineMap map,
                         llvm::function_ref<InFlightDiagnostic()> emitError) {
  LogicalResult result = success();
  map.walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || failed(result))
      return;
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return;
    case AffineExprKind::Mul:
      // The text form cannot say it, but a builder can.
      if (!constant)
        result = emitError() << "SX2: expects products with a constant in "
                             << AffineMapAttr::get(map);
      return;
    case AffineExprKind::CeilDiv:
      result = emitError() << "SX2: expects divisions that round down in "
                           << AffineMapAttr::get(map);
      return;
    default:
      if (!constant || constant.getValue() <= 0)
        result = emitError() << "SX2: expects positive constant divisors in "
                             << AffineMapAttr::get(map);
    }
  });
  return result;
}
