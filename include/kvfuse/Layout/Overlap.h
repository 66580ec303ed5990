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

  /// SM8: asserts, at the start of `func`, that the memref arguments that it
  /// writes, itself or by calls, overlap no other memref argument. Those that
  /// are only read may overlap. An argument of which one kernel touches several
  /// parts must not repeat its elements: other coordinates are other elements.
  /// That is tested as far as strides of 0 do it; windows that overlap are for
  /// the caller to avoid.
  void createArgumentTests(mlir::func::FuncOp func);

private:
  /// A memref as numbers, in bytes. All elements lie in [low, high); high is 0
  /// if there are none.
  struct View {
    mlir::Value low, high, elementBytes;
    llvm::SmallVector<mlir::Value> sizes, strides;

    unsigned getRank() const { return sizes.size(); }
    /// Adds dimensions, of one element, to reach `rank`.
    void extend(mlir::ImplicitLocOpBuilder &b, unsigned rank);
  };
  const View &getView(mlir::Location loc, mlir::Value memref);

  mlir::Value createDisjointTest(mlir::ImplicitLocOpBuilder &b, View lhs,
                                 View rhs);

  /// Is `memref` without dimensions of stride 0 along which elements lie?
  mlir::Value createNoRepetitionTest(mlir::ImplicitLocOpBuilder &b,
                                     mlir::Value memref);

  /// Asserts for each pair of arguments of which one is written.
  void createPairTests(mlir::ImplicitLocOpBuilder &b,
                       llvm::ArrayRef<mlir::BlockArgument> written,
                       llvm::ArrayRef<mlir::BlockArgument> read);
  /// The same with one loop, of which there is less code.
  void createLoopTests(mlir::ImplicitLocOpBuilder &b,
                       llvm::ArrayRef<mlir::BlockArgument> written,
                       llvm::ArrayRef<mlir::BlockArgument> read);
  /// The number of a view that overlaps one before it among the first
  /// `numWritten` ones, or -1. All have one rank.
  mlir::Value createTestLoop(mlir::ImplicitLocOpBuilder &b,
                             llvm::ArrayRef<View> views, unsigned numWritten);
  /// `number` if `view` overlaps one of the first `end` of `others`, or
  /// `found`.
  mlir::Value createSearch(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                           const View &view, mlir::Value end,
                           llvm::ArrayRef<View> others, mlir::Value found);
  /// Chooses one of `views` at run time.
  static View createSwitch(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                           llvm::ArrayRef<View> views);

  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Value, View> views;
  WrittenArguments writtenArguments;
};

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_OVERLAP_H
