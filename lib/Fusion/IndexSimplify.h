//===- IndexSimplify.h - Simplify coordinates by ranges ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INDEXSIMPLIFY_H
#define KVFUSE_FUSION_INDEXSIMPLIFY_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace kvfuse {

/// The 64-bit ranges of the dimensions and symbols of affine expressions.
struct ExprRanges {
  llvm::SmallVector<mlir::ConstantIntRanges> dims, symbols;

  /// The range of `expr`, a sum, product, floor division or remainder of them.
  mlir::ConstantIntRanges getRange(mlir::AffineExpr expr) const;
};

/// The range [0, size) of a coordinate; without an upper bound if the size is
/// dynamic.
mlir::ConstantIntRanges getCoordinateRange(int64_t size);

/// Simplifies divisions and remainders by constants in `expr` as far as
/// `ranges` allow: `(s * 128 + d) floordiv 128` is `s`, and `(s * 128 + d) mod
/// 128` is `d`, where d is in [0, 128). That turns byte addresses and row ids
/// of mixed radix into pages, offsets and row coordinates.
mlir::AffineExpr simplifyByRanges(mlir::AffineExpr expr,
                                  const ExprRanges &ranges);

} // namespace kvfuse

#endif // KVFUSE_FUSION_INDEXSIMPLIFY_H
