//===- AccessWidth.h - How many elements are moved at once ------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_ACCESSWIDTH_H
#define KVFUSE_LAYOUT_ACCESSWIDTH_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvfuse {

/// Bytes of the widest access that there is.
inline constexpr int64_t kMaxAccessBytes = 16;

/// How the facts that types leave open are dealt with.
struct AccessOptions {
  /// Addresses and strides are multiples of kMaxAccessBytes; the last stride is
  /// not meant.
  bool assumeAligned = false;
  /// What cannot be proven is taken not to hold.
  bool onlyProven = false;
};

/// What the types say of something that an access needs.
enum class Fact { Holds, Open, Fails };

/// Is the last stride of `memref` 1, or is there at most one element along it?
Fact getUnitStride(mlir::Value memref);

/// Tests in host code whether the last strides of all `memrefs` are 1. Null if
/// that is known.
mlir::Value createUnitStrideTest(mlir::ImplicitLocOpBuilder &b,
                                 mlir::ValueRange memrefs);

/// Elements of one access for each destination of a write.
using Accesses = llvm::SmallVector<int64_t>;

/// The accesses to try for `write`, the widest first, at most three. Of the
/// last one everything is proven: it is by element, if nothing else.
llvm::SmallVector<Accesses> getAccessCandidates(mlir::kv::WriteOp write,
                                                const AccessOptions &options);

/// Tests in host code what `accesses` need of the operands of `write` and what
/// is not proven. Null if nothing is left.
mlir::Value createAccessTest(mlir::ImplicitLocOpBuilder &b,
                             mlir::kv::WriteOp write,
                             llvm::ArrayRef<int64_t> accesses,
                             const AccessOptions &options);

/// Bytes of an access of `elements` to destination `i`: of the wider of value
/// and stored element.
int64_t getAccessBytes(mlir::kv::WriteOp write, unsigned i, int64_t elements);

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_ACCESSWIDTH_H
