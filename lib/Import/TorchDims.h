//===- TorchDims.h - Which dimensions hold the same -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHDIMS_H
#define KVFUSE_LIB_IMPORT_TORCHDIMS_H

#include "mlir/IR/Builders.h"
#include <optional>

namespace kvfuse::torch {

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

#endif // KVFUSE_LIB_IMPORT_TORCHDIMS_H
