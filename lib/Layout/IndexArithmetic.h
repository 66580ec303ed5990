//===- IndexArithmetic.h - Numbers in host code -----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_INDEXARITHMETIC_H
#define KVFUSE_LAYOUT_INDEXARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvfuse {

/// Bytes from one element of a memref of `type` to the next, at stride 1.
inline int64_t getElementBytes(mlir::Type type) {
  mlir::Type element = llvm::cast<mlir::ShapedType>(type).getElementType();
  return element.isIndex()
             ? mlir::IndexType::kInternalStorageBitWidth / 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

inline mlir::Value createIndex(mlir::ImplicitLocOpBuilder &b, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(b, value);
}

inline mlir::Value createBool(mlir::ImplicitLocOpBuilder &b, bool value) {
  return mlir::arith::ConstantIntOp::create(b, value, /*width=*/1);
}

inline mlir::Value createCompare(mlir::ImplicitLocOpBuilder &b,
                                 mlir::arith::CmpIPredicate is, mlir::Value lhs,
                                 mlir::Value rhs) {
  return b.createOrFold<mlir::arith::CmpIOp>(is, lhs, rhs);
}

/// (size - 1) * stride: from the first element along a dimension to the last.
inline mlir::Value createSpan(mlir::ImplicitLocOpBuilder &b, mlir::Value size,
                              mlir::Value stride) {
  mlir::Value last =
      b.createOrFold<mlir::arith::SubIOp>(size, createIndex(b, 1));
  return b.createOrFold<mlir::arith::MulIOp>(last, stride);
}

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_INDEXARITHMETIC_H
