//===- SplitRows.h - Rows before they are flattened -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_SPLITROWS_H
#define KVFUSE_FUSION_SPLITROWS_H

#include "FusedDest.h"

namespace kvfuse {

/// Reads rows that are several dimensions in one, `k.reshape(T, H * D)`, from
/// the tensor before: the row coordinate c becomes h * D + d. A reshape of a
/// function's argument, which may have any strides, is a copy of it otherwise.
/// Only where static sizes show that the rows still fit the cache (SX10).
void splitCollapsedRows(FusedDest &dest, unsigned numTokens, unsigned numRoots,
                        mlir::ShapedType cache);

} // namespace kvfuse

#endif // KVFUSE_FUSION_SPLITROWS_H
