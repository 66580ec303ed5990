//===- TorchFunction.h - What is done around the writes ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of kv-import-torch after the writes of a function are kv.write.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHFUNCTION_H
#define KVFUSE_LIB_IMPORT_TORCHFUNCTION_H

#include "TorchChain.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace kvfuse::torch {

/// Checks each `aten._assert_tensor_metadata` on a tensor that `chain` has
/// converted. Those that hold are added to `holding`, one that does not is an
/// error, and what cannot be told from types is neither.
mlir::LogicalResult
checkMetadata(mlir::func::FuncOp func, const ChainConverter &chain,
              llvm::SmallVectorImpl<mlir::Operation *> &holding);

/// Erases those of `ops` that nobody uses, and then the constants, lists, views
/// and casts that only they used.
void eraseDeadOps(mlir::ArrayRef<mlir::Operation *> ops);

/// Gives a function that holds no Torch operation but casts builtin types: the
/// casts go, and so do results that are none.
void convertSignature(mlir::func::FuncOp func);

/// SM5: marks the arguments of every function with kv.write. `mutates` is a
/// list of argument numbers, "auto", or empty.
mlir::LogicalResult markMutated(mlir::ModuleOp module, llvm::StringRef mutates);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHFUNCTION_H
