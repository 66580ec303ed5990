//===- TorchShapes.h - Tensors repeated as torch does it -----*- C++ -*-===//
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

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHSHAPES_H
