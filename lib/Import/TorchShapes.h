//===- TorchShapes.h - Shapes of tensors, as torch has them -----*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHSHAPES_H
#define KVFUSE_LIB_IMPORT_TORCHSHAPES_H

#include "mlir/IR/Builders.h"
#include <optional>

namespace kvfuse::torch {

/// The shape to which torch repeats tensors of the given shapes along each
/// other: aligned at the right, absent dimensions and those of size 1 are
/// repeated. A dynamic size beside another is taken to be the same. Nothing if
/// they do not fit.
std::optional<llvm::SmallVector<int64_t>>
getCommonShape(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// The common shape of torch tensors; nothing if one of them has no shape.
std::optional<llvm::SmallVector<int64_t>>
getCommonShape(mlir::ValueRange torchTensors);

/// Repeats builtin tensors along each other, to their common shape, which must
/// exist.
llvm::SmallVector<mlir::Value> broadcastTogether(mlir::OpBuilder &builder,
                                                 mlir::Location loc,
                                                 mlir::ValueRange tensors);

/// Repeats a builtin tensor to the given sizes, aligned at the right: absent
/// dimensions and those of size 1. A null size is that of the tensor.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value tensor,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Neighbouring dimensions of one shape that hold what neighbouring dimensions
/// of another hold.
struct DimGroup {
  llvm::SmallVector<int64_t> from;
  llvm::SmallVector<int64_t> to;
};

/// The smallest such groups for two shapes of the same number of elements. With
/// `keepsSizes`, the shapes differ in dimensions of size 1 alone; otherwise two
/// dynamic sizes are the same only if there is one on each side.
std::optional<llvm::SmallVector<DimGroup>>
matchDims(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
          bool keepsSizes = false);

/// A builtin tensor seen with another shape, of as many elements; null if it is
/// not known how.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value tensor, llvm::ArrayRef<int64_t> shape,
                    bool keepsSizes = false);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHSHAPES_H
