//===- TensorSize.h - Where sizes of tensors come from ----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_TENSORSIZE_H
#define KVFUSE_FUSION_TENSORSIZE_H

#include "mlir/IR/Value.h"

namespace kvfuse {

/// Are dimension `dimOfA` of the tensor `a` and dimension `dimOfB` of `b` of
/// the same size in every execution? Sees through elementwise and structured
/// operations, whose operands agree in size, and through reshapes.
bool haveSameSize(mlir::Value a, int64_t dimOfA, mlir::Value b, int64_t dimOfB);

} // namespace kvfuse

#endif // KVFUSE_FUSION_TENSORSIZE_H
