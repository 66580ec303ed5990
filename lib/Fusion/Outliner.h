//===- Outliner.h - Functions of module @kvfuse -----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_OUTLINER_H
#define KVFUSE_FUSION_OUTLINER_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse {

/// Neighbouring writes that become one function.
struct Site {
  llvm::SmallVector<mlir::kv::WriteOp> writes;
  /// The writes, and what takes their slices out of pools and puts them back,
  /// in order.
  llvm::SmallVector<mlir::Operation *> body;
  /// What computes the operands and goes along, in order.
  llvm::SetVector<mlir::Operation *> producers;
};

/// Makes constant offsets of the slices that `site` takes out of pools its
/// inputs, so that sites which differ in them share one function.
void passOffsets(Site &site);

/// Makes and shares the functions of module @kvfuse.
class Outliner {
public:
  explicit Outliner(mlir::ModuleOp module) : module(module) {}

  /// Replaces `site` by a call of the function that is returned.
  mlir::func::FuncOp outline(Site &site);

  /// Moves a function of known operations, calls included. What calls it from
  /// outside finds a declaration in its place.
  mlir::LogicalResult moveWhole(mlir::func::FuncOp func);

  /// Declares in the outer module what `func`, which stays there, calls.
  void declareCallees(mlir::func::FuncOp func);

private:
  /// Declares `func` at `place` in the outer module.
  void declare(mlir::func::FuncOp func, mlir::Block::iterator place);

  /// The function of `site`, not yet in a symbol table.
  mlir::func::FuncOp build(Site &site, mlir::ValueRange inputs,
                           mlir::ValueRange outputs);

  /// An equal function of @kvfuse instead of `func`, if there is one.
  mlir::func::FuncOp share(mlir::func::FuncOp func);

  mlir::ModuleOp getNested();

  mlir::ModuleOp module, nested;
  unsigned counter = 0;
  llvm::DenseMap<mlir::Type, llvm::SmallVector<mlir::func::FuncOp>> byType;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_OUTLINER_H
