//===- ReportCalls.h - Calls of outlined functions ---------------*- C++ -*-
//===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_TARGET_REPORTCALLS_H
#define KVFUSE_LIB_TARGET_REPORTCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace kvfuse {

/// The calls of outlined functions that stand in `caller`, which is not
/// compiled whole, in program order: what a framework needs to put them in the
/// place of the nodes that it has.
llvm::json::Array describeCalls(mlir::func::FuncOp caller);

/// The names of writes in `caller` that were removed, as they repeat others.
llvm::json::Array listRepeated(mlir::func::FuncOp caller);

} // namespace kvfuse

#endif // KVFUSE_LIB_TARGET_REPORTCALLS_H
