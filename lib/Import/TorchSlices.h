//===- TorchSlices.h - Parameters of torch's views --------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHSLICES_H
#define KVFUSE_LIB_IMPORT_TORCHSLICES_H

#include "TorchLayout.h"
#include "mlir/IR/Operation.h"

namespace kvfuse::torch {

/// torch.preserve_format, as torch-mlir writes it.
inline constexpr int64_t kPreserveFormat = 1;

/// Applies a slice to `layout`; `parameters` are the operands after the tensor
/// (and after the source, for a scatter), `type` is that of the slice. Each
/// fails where a parameter is no constant or the slice no box of the base.
///
/// select.int: dim, index
mlir::LogicalResult applySelect(ViewLayout &layout,
                                mlir::OperandRange parameters,
                                mlir::RankedTensorType type);
/// slice.Tensor: dim, start, end, step
mlir::LogicalResult applySlice(ViewLayout &layout,
                               mlir::OperandRange parameters,
                               mlir::RankedTensorType type);
/// narrow: dim, start, length
mlir::LogicalResult applyNarrow(ViewLayout &layout,
                                mlir::OperandRange parameters,
                                mlir::RankedTensorType type);
/// as_strided: sizes, strides, offset; of all of a contiguous tensor, which
/// torch-mlir takes every tensor to be.
mlir::LogicalResult applyAsStrided(ViewLayout &layout,
                                   mlir::OperandRange parameters,
                                   mlir::RankedTensorType type);

/// Is `value` a number that is read from a tensor at run time, or computed from
/// one?
bool isHostNumber(mlir::Value value);

/// The order of dimensions that a permute or transpose of a tensor of rank
/// `rank` gives.
mlir::FailureOr<llvm::SmallVector<int64_t>> readOrder(mlir::Operation *op,
                                                      int64_t rank);

/// where(arange == index along dim, expand(x), base): select_scatter after
/// torch's decomposition.
struct MaskedSelect {
  /// x, with size 1 in dimension `dim`.
  mlir::Value source;
  unsigned dim;
  int64_t index;
  /// The operations of the mask.
  llvm::SmallVector<mlir::Operation *> mask;
};
std::optional<MaskedSelect> readMaskedSelect(mlir::Operation *where);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHSLICES_H
