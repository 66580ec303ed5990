//===- TorchViews.h - Torch tensors as views of caches ----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHVIEWS_H
#define KVFUSE_LIB_IMPORT_TORCHVIEWS_H

#include "TorchLayout.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/IR/Operation.h"

namespace kvfuse::torch {

/// A torch tensor as a view of another that is no view.
struct CacheView {
  mlir::Value base;
  ViewLayout layout;
  /// Type of the view; the element type may differ from that of the base.
  mlir::RankedTensorType type;
  /// The operations between base and view, the first applied first.
  llvm::SmallVector<mlir::Operation *> chain;

  bool isBase() const;
};

/// Why a tensor cannot be written as a part of its base.
struct ViewRefusal {
  Refusal reason = Refusal::IndexUnknown;
  std::string found;
  std::string suggest;
  std::optional<mlir::Location> cause;
};

/// Follows `value` through selects, slices, reshapes, permutes and bitcasts to
/// its base: an argument, what torch_c.from_builtin_tensor makes of a builtin
/// tensor, or a tensor of unknown origin. On failure `why` is set.
mlir::FailureOr<CacheView> readView(mlir::Value value, ViewRefusal &why);

/// Is `op` one that readView follows?
bool isViewOp(mlir::Operation *op);
/// The operand of a view operation that it is a view of.
mlir::Value getViewSource(mlir::Operation *op);
/// What is at the end of the view operations that make `value`.
mlir::Value getViewBase(mlir::Value value);

/// What `value` is a view or version of, through the writes of this import: an
/// argument of the function, if it is a cache.
mlir::Value getOrigin(mlir::Value value);

/// An operation that puts a tensor into a slice of another: select_scatter,
/// slice_scatter, as_strided_scatter, or where(arange == k, expand(x), base),
/// to which torch decomposes select_scatter.
struct SliceScatter {
  mlir::Operation *op;
  mlir::Value target;
  mlir::Value source;
  /// Operations that say where, beside the operands of `op`.
  llvm::SmallVector<mlir::Operation *> mask;
};
std::optional<SliceScatter> readSliceScatter(mlir::Operation *op);

/// The slice of the target that `scatter` replaces, as a view.
mlir::FailureOr<CacheView> readTargetSlice(const SliceScatter &scatter,
                                           ViewRefusal &why);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHVIEWS_H
