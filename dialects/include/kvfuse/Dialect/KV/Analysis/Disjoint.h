//===- Disjoint.h - Writes to other parts of one buffer ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two destinations may be parts of one buffer: K and V of a pool, or columns of
// one row. These functions prove that they have no element in common (SM2), or
// return false. They see through slices and casts, on tensors also through
// writes and insertions of slices: a version of a tensor lies where the tensor
// does.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_ANALYSIS_DISJOINT_H
#define KVFUSE_DIALECT_KV_ANALYSIS_DISJOINT_H

#include "kvfuse/Dialect/KV/IR/KV.h"

namespace mlir::kv {

/// Takes away casts that are not known here, such as those to and from the
/// tensors of a front end.
using StripCastsFn = llvm::function_ref<Value(Value)>;

/// Does destination `i` of `lhs` store to other elements than destination `j`
/// of `rhs`, whatever the index values are?
bool areRowsDisjoint(WriteOp lhs, unsigned i, WriteOp rhs, unsigned j,
                     StripCastsFn stripCasts = nullptr);

/// Does destination `i` of `write` store to no element of `view`?
bool isOutside(WriteOp write, unsigned i, Value view);

/// The memref from which the operation that defines `memref` takes its pointer;
/// null if it has one of its own.
Value getPointerOperand(Value memref);

/// The memref whose pointer `memref` has: strides and offset of a type count
/// from there.
Value getPointerSource(Value memref);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_ANALYSIS_DISJOINT_H
