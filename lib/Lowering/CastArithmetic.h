//===- CastArithmetic.h - Casts in integer arithmetic -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_CASTARITHMETIC_H
#define KVFUSE_LOWERING_CASTARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kvfuse {

/// The float type of a scalar or a vector, whose elements are computed side by
/// side; null for other types.
mlir::FloatType getScalarOrVectorFloat(mlir::Type type);

/// Rounds `input`, floats of 8 to 32 bits, scalars or vectors, to type `to`
/// with integer operations.
mlir::Value createCast(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value input, mlir::Type to,
                       mlir::arith::RoundingMode rounding, bool saturating);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_CASTARITHMETIC_H
