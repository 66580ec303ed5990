//===- Interval.h - Bounds of affine expressions ----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_INTERVAL_H
#define KVFUSE_DIALECT_KV_IR_INTERVAL_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::kv {

/// An interval of 64-bit integers; an end that is not there is not known, or
/// does not fit.
struct Interval {
  std::optional<int64_t> low, high;

  bool mayBeNegative() const { return !low || *low < 0; }
};

Interval operator+(const Interval &lhs, const Interval &rhs);
Interval operator*(const Interval &interval, int64_t factor);
/// What lies in both.
Interval intersect(const Interval &lhs, const Interval &rhs);

/// The values from 0 up to, not including, `size`, which may be
/// ShapedType::kDynamic.
Interval getIntervalBelow(int64_t size);

/// The values that `expr` can take where its dimensions lie in `dims`. 64-bit
/// sums and products are assumed not to overflow (SX3).
Interval getInterval(AffineExpr expr, ArrayRef<Interval> dims);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_IR_INTERVAL_H
