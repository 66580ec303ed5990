//===- WrittenArguments.h - Which arguments are written? --------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_WRITTENARGUMENTS_H
#define KVFUSE_LAYOUT_WRITTENARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace kvfuse {

/// The arguments of functions that writes on buffers may write, through views
/// of them and in the functions that are called.
class WrittenArguments {
public:
  llvm::BitVector lookup(mlir::func::FuncOp func);

private:
  llvm::BitVector compute(mlir::func::FuncOp func);

  llvm::DenseMap<mlir::Operation *, llvm::BitVector> known;
};

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_WRITTENARGUMENTS_H
