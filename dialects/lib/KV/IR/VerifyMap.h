//===- VerifyMap.h - Checks of affine maps ----------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_VERIFYMAP_H
#define KVFUSE_DIALECT_KV_IR_VERIFYMAP_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::kv {

/// SX2: `map` is affine, and every division and remainder in it is by a
/// positive constant and rounds down.
LogicalResult
verifyDivisors(AffineMap map,
               llvm::function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_IR_VERIFYMAP_H
