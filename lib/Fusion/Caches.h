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

/// The first value of the same version: `version` without type casts.
mlir::Value stripTypeCasts(mlir::Value version);

/// The value that `version` is made from by writes and type casts: an argument,
/// or the result of some other operation.
mlir::Value getCacheBase(mlir::Value version);

/// The argument of a function that `version` is a version of, or null.
mlir::BlockArgument getCacheArgument(mlir::Value version);

/// `version` and what may share memory with it: type casts, views, and results
/// of operations that are not known. A write into a version returns the next
/// version, which is not among them. Of operations other than type casts, only
/// those that may run before `until` are followed.
llvm::SetVector<mlir::Value> getAliases(mlir::Value version,
                                        mlir::Operation *until);

/// Does `write` read, as index, mask or values, one of `aliases`?
bool readsAny(mlir::kv::WriteOp write,
              const llvm::SetVector<mlir::Value> &aliases);

/// May `op` run once `other` has run, both inside one function? What `op` holds
/// is not asked for.
bool mayRunAfter(mlir::Operation *op, mlir::Operation *other);

/// On buffers: the buffer that `memref` is a view of.
mlir::Value getBufferBase(mlir::Value memref);

/// Was `write` refused by an earlier pass?
bool isRefused(mlir::kv::WriteOp write);

} // namespace kvfuse

#endif // KVFUSE_FUSION_CACHES_H
