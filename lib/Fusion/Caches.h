//===- Caches.h - Versions of a cache in SSA --------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On tensors every write makes a new version of its cache. These functions
// follow a version back to the argument it came from and forward to whoever may
// read it.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_CACHES_H
#define KVFUSE_FUSION_CACHES_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse {

/// Does `op` only change the type of its operand: `tensor.cast`, or a
/// conversion between Torch and builtin tensors?
bool isTypeCast(mlir::Operation *op);

/// The value that `version` is made from by writes and type casts: an argument,
/// or the result of some other operation.
mlir::Value getCacheBase(mlir::Value version);

/// `version` and what may share memory with it: type casts, views, and results
/// of operations that are not known. A write into a version returns the next
/// version, which is not among them. Only operations before `until` are
/// followed.
llvm::SetVector<mlir::Value> getAliases(mlir::Value version,
                                        mlir::Operation *until);

/// Does `op`, or the operation around it, come before `other` in its block?
/// Operations elsewhere count as before.
bool mayComeBefore(mlir::Operation *op, mlir::Operation *other);

/// Was `write` refused by an earlier pass?
bool isRefused(mlir::kv::WriteOp write);

} // namespace kvfuse

#endif // KVFUSE_FUSION_CACHES_H
