//===- LinearForm.h - Affine expressions as sums ----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_ANALYSIS_LINEARFORM_H
#define KVFUSE_DIALECT_KV_ANALYSIS_LINEARFORM_H

#include "kvfuse/Dialect/KV/IR/Interval.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::kv {

/// An affine expression as a constant and a sum of terms with constant factors.
/// Upstream's flat form writes e mod c as e - (e floordiv c) * c, of which an
/// interval says nothing; here the remainder stays a term.
class LinearForm {
public:
  /// Adds `expr * factor`. Fails if a factor does not fit into 64 bits.
  llvm::LogicalResult add(AffineExpr expr, int64_t factor);

  /// (e floordiv c) * c + e mod c = e, for every such pair.
  llvm::LogicalResult recombine();

  /// The values that the form takes modulo `modulus`, up to multiples of it, or
  /// exactly without one. `dims` are the values of the dimensions.
  Interval getInterval(llvm::ArrayRef<Interval> dims,
                       std::optional<int64_t> modulus) const;

  /// Adds the factors of the terms to `factors`.
  void collectFactors(llvm::SetVector<int64_t> &factors) const;

private:
  llvm::MapVector<AffineExpr, int64_t> terms;
  int64_t constant = 0;
};

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_ANALYSIS_LINEARFORM_H
