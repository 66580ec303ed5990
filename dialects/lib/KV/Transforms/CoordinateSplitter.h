//===- CoordinateSplitter.h - Coordinates computed beforehand ---*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_KV_TRANSFORMS_COORDINATESPLITTER_H
#define KVFUSE_LIB_KV_TRANSFORMS_COORDINATESPLITTER_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::kv {

/// Splits the coordinates of a tensor write with one destination into what
/// index values alone contribute, which is computed beforehand, and the rest:
///   (s mod 32) * 132 + r   ->   p + r   where p = (s mod 32) * 132
class CoordinateSplitter {
public:
  /// New operations are made by `builder`, which stands before `write`.
  CoordinateSplitter(OpBuilder &builder, WriteOp write)
      : builder(builder), write(write) {}

  /// The map that gives the same coordinates from the operands `indices`.
  AffineMap split(SmallVectorImpl<Value> &indices);

  /// Index operand `index` as i64 (SX1); widened once.
  Value getWidened(unsigned index);

private:
  /// coordinate = rest + operand, the latter if there is one.
  struct Split {
    AffineExpr rest;
    std::optional<unsigned> operand;
  };

  bool usesIndices(AffineExpr expr);
  bool usesOnlyIndices(AffineExpr expr);
  /// Sorts the terms of the sum `expr` into those of index values alone and the
  /// others.
  void collectTerms(AffineExpr expr, AffineExpr &indexPart, AffineExpr &rest);
  Split splitExpr(AffineExpr expr);
  /// The operand that is index operand `index` itself.
  unsigned keepIndex(unsigned index);
  /// The operand that holds `expr`, an expression of index values.
  unsigned materialize(AffineExpr expr);

  OpBuilder &builder;
  WriteOp write;
  SmallVector<Value> operands;
  DenseMap<unsigned, Value> widened;
  DenseMap<unsigned, unsigned> kept;
  DenseMap<AffineExpr, unsigned> computed;
};

} // namespace mlir::kv

#endif // KVFUSE_LIB_KV_TRANSFORMS_COORDINATESPLITTER_H
