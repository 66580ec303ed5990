//===- KernelInputs.h - What a kernel uses from outside ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_KERNELINPUTS_H
#define KVFUSE_LOWERING_KERNELINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse {

/// What a site uses from outside, and how it gets into its kernel.
struct KernelInputs {
  /// Host values to pass.
  llvm::SetVector<mlir::Value> passed;
  /// Operations that the kernel runs itself, operands first: constants;
  /// constant globals, which lie in memory of the host, with their views;
  /// scalars loaded from memory, which may be a device's, with what is computed
  /// from them.
  llvm::SetVector<mlir::Operation *> cloned;
};

/// Finds the inputs of sites of one function, which must not change meanwhile.
class InputCollector {
public:
  explicit InputCollector(mlir::func::FuncOp func);

  KernelInputs collect(mlir::Operation *site);

private:
  /// Does the kernel of `site` compute `value` itself?
  bool isCloned(mlir::Value value, mlir::Operation *site);
  void add(mlir::Value value, mlir::Operation *site, KernelInputs &inputs);
  /// Would `load` load the same when `site` runs?
  bool isUnchanged(mlir::memref::LoadOp load, mlir::Operation *site);

  /// Operations that write, by the buffer that they write; those that may write
  /// any buffer are under the null value.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *>> writers;
  /// Answers for the site in hand.
  llvm::DenseMap<mlir::Value, bool> clonedHere;
};

} // namespace kvfuse

#endif // KVFUSE_LOWERING_KERNELINPUTS_H
