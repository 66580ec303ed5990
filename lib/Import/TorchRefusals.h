//===- TorchRefusals.h - Updates of caches that stay as they are -*- C++ -*-==//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kv-import-torch says about torch operations that update a cache and are
// no write of rows, or that only look like one.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHREFUSALS_H
#define KVFUSE_LIB_IMPORT_TORCHREFUSALS_H

#include "TorchRowWrite.h"
#include "TorchViews.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kvfuse::torch {

/// Checks that the tensor written by `op` is a cache, not one that the program
/// has computed or a slice that is thrown away, and that it is written once and
/// not from its own rows. On failure `why` is set.
mlir::LogicalResult checkDestination(mlir::Operation *op, const RowWrite &write,
                                     const CacheView &view, ViewRefusal &why);

/// Names the operations, unknown to kvfuse, that take a cache that a kv.write
/// of `func` writes: readers or writers whose order with the writes must be
/// kept. Those in `named` have been named already, and more are added. Marks
/// those that only read (kNewResultsAttr).
void reportOpaqueOps(mlir::func::FuncOp func,
                     llvm::SmallPtrSetImpl<mlir::Operation *> &named);

/// Names each update of an argument that is no write of rows: copies to slices
/// (`contiguous`, `host-loop`), whole new caches (`not-a-scatter`), sums
/// (`accumulate`) and operations that kvfuse does not know (`opaque-op`), but
/// for those in `named`.
void reportOtherUpdates(mlir::func::FuncOp func,
                        llvm::SmallPtrSetImpl<mlir::Operation *> &named);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHREFUSALS_H
