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

/// Which arguments of a function writes on buffers, or the kernels that these
/// have become, may touch, through views of them and in the functions that are
/// called.
struct TouchedArguments {
  /// What is written.
  llvm::BitVector written;
  /// What is written by an operation on buffers with several destinations that
  /// touches another part of it, too: that the parts are disjoint is known of
  /// their coordinates.
  llvm::BitVector shared;
};

/// Finds them, once for each function.
class WrittenArguments {
public:
  TouchedArguments lookup(mlir::func::FuncOp func);

private:
  llvm::DenseMap<mlir::Operation *, TouchedArguments> known;
};

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_WRITTENARGUMENTS_H
