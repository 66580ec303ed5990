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

#ifndef KVFUSE_FUSION_DISJOINT_H
#define KVFUSE_FUSION_DISJOINT_H

#include "kvfuse/Dialect/KV/IR/KV.h"

namespace kvfuse {

/// Does destination `i` of `lhs` store to other elements than destination `j`
/// of `rhs`, whatever the index values are?
bool areRowsDisjoint(mlir::kv::WriteOp lhs, unsigned i, mlir::kv::WriteOp rhs,
                     unsigned j);

/// Does destination `i` of `write` store to no element of `view`?
bool isOutside(mlir::kv::WriteOp write, unsigned i, mlir::Value view);

} // namespace kvfuse

#endif // KVFUSE_FUSION_DISJOINT_H
