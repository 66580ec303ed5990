//===- InPlace.h - May a cache be written in place? -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INPLACE_H
#define KVFUSE_FUSION_INPLACE_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace kvfuse {

/// Did the source declare that argument `number` of `func` may be written
/// (SM5)?
bool isDeclaredMutated(mlir::FunctionOpInterface func, unsigned number);

/// SM3 and SM5, on SSA: may all destinations of `write` be written in place? If
/// not, emits a remark `cache-copied`, `old-cache-live`, `alias-value` or
/// `dest-alias`.
bool mayWriteInPlace(mlir::kv::WriteOp write);

/// SM3: may `write` be done in one launch with its neighbours `run`? If not,
/// for one reads what the other writes, emits a remark `alias-value`.
bool mayJoin(llvm::ArrayRef<mlir::kv::WriteOp> run, mlir::kv::WriteOp write);

} // namespace kvfuse

#endif // KVFUSE_FUSION_INPLACE_H
