//===- Overlap.h - Do memrefs overlap? Asked at run time --------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_OVERLAP_H
#define KVFUSE_LAYOUT_OVERLAP_H

#include "kvfuse/Layout/WrittenArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace kvfuse {

/// Attribute of a function whose calls have no effect and are defined for all
/// arguments: they may run earlier, or once more.
inline constexpr llvm::StringLiteral kPureAttr = "kv.pure";

/// Builds tests of addresses in the host code of one module. They have no
/// effects, access no memory, and can be moved to wherever the memrefs are
/// known. What is computed of one memref stands behind its definition, once;
/// so memrefs that were tested have to stay while this object is in use.
class OverlapTests {
public:
  explicit OverlapTests(mlir::ModuleOp module) : module(module) {}

  /// An i1 that is true only if `lhs` and `rhs` have no byte in common. It is
  /// true for memrefs one behind the other in memory, and for views that are
  /// interleaved with a period, such as K and V of the pages of one pool. A
  /// memref without elements overlaps nothing.
  mlir::Value createDisjointTest(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value lhs, mlir::Value rhs);

  /// An i1 that is false if `memref` repeats its elements: if a dimension has
  /// stride 0, and more than one element lies along it. That windows over other
  /// strides do not overlap is the caller's promise.
  mlir::Value createNoRepetitionTest(mlir::OpBuilder &builder,
                                     mlir::Location loc, mlir::Value memref);

  /// SM8: asserts, at the start of `func`, that the memref arguments that it
  /// writes, itself or by calls, overlap no other memref argument, and do not
  /// repeat their elements. Arguments that are only read may overlap.
  void createArgumentTests(mlir::func::FuncOp func);

  /// A memref as numbers, in bytes. All elements lie in [low, high); high is 0
  /// if there are none.
  struct View {
    mlir::Value low, high;
    llvm::SmallVector<mlir::Value> sizes, strides;
    int64_t elementBytes;
  };

private:
  const View &getView(mlir::Location loc, mlir::Value memref);

  /// The function that tells if two views of rank `rank` are interleaved.
  mlir::func::FuncOp getInterleavedTest(unsigned rank);

  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Value, View> views;
  WrittenArguments written;
};

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_OVERLAP_H
