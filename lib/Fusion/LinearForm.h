//===- LinearForm.h - Affine expressions as sums ----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_LINEARFORM_H
#define KVFUSE_FUSION_LINEARFORM_H

#include "kvfuse/Dialect/KV/IR/Interval.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse {

/// An affine expression as a constant and a sum of terms with constant factors.
/// Upstream's flat form writes e mod c as e - (e floordiv c) * c, of which an
/// interval says nothing; here the remainder stays a term.
class LinearForm {
public:
  /// Adds `expr * factor`. Fails if a factor does not fit into 64 bits.
  llvm::LogicalResult add(mlir::AffineExpr expr, int64_t factor);

  /// (e floordiv c) * c + e mod c = e, for every such pair.
  llvm::LogicalResult recombine();

  /// The values that the form takes modulo `modulus`, up to multiples of it, or
  /// exactly without one. `dims` are the values of the dimensions.
  mlir::kv::Interval getInterval(llvm::ArrayRef<mlir::kv::Interval> dims,
                                 std::optional<int64_t> modulus) const;

  /// Adds the factors of the terms to `factors`.
  void collectFactors(llvm::SetVector<int64_t> &factors) const;

private:
  llvm::MapVector<mlir::AffineExpr, int64_t> terms;
  int64_t constant = 0;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_LINEARFORM_H
