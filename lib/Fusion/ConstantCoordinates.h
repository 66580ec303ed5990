//===- ConstantCoordinates.h - Coordinates that select a slice --*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_CONSTANTCOORDINATES_H
#define KVFUSE_FUSION_CONSTANTCOORDINATES_H

#include "kvfuse/Dialect/KV/IR/KV.h"

namespace kvfuse {

/// Lets writes, on tensors, with coordinates that are constant, such as a layer
/// number, go to the slices of their caches that these select, and puts the
/// slices back. `first` has the value that each version is a version of, where
/// that is another one: it is asked for sizes.
void selectConstants(llvm::ArrayRef<mlir::kv::WriteOp> writes,
                     llvm::DenseMap<mlir::Value, mlir::Value> first);

} // namespace kvfuse

#endif // KVFUSE_FUSION_CONSTANTCOORDINATES_H
