//===- Slices.h - Slices of caches and of pools -----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache that is a slice of a pool is written in three steps:
// tensor.extract_slice, kv.write, tensor.insert_slice of the result. These
// functions see the three as one.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_SLICES_H
#define KVFUSE_FUSION_SLICES_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace kvfuse {

/// Do `extract` and `insert` name the same elements of tensors of one shape, in
/// the same form?
bool isSameSlice(mlir::tensor::ExtractSliceOp extract,
                 mlir::tensor::InsertSliceOp insert);
bool isSameSlice(mlir::tensor::ExtractSliceOp lhs,
                 mlir::tensor::ExtractSliceOp rhs);

/// Do two slices of tensors of one shape share no element? False if it is not
/// known.
bool areDisjointSlices(mlir::tensor::ExtractSliceOp lhs,
                       mlir::tensor::ExtractSliceOp rhs);
bool areDisjointSlices(mlir::tensor::ExtractSliceOp slice,
                       mlir::tensor::InsertSliceOp insert);

/// Does only the running program know whether two slices of tensors of one
/// shape overlap?
bool isOverlapDynamic(mlir::tensor::ExtractSliceOp lhs,
                      mlir::tensor::ExtractSliceOp rhs);

/// The slice that destination `i` of `write` is a version of, or null if it is
/// a version of something else.
mlir::tensor::ExtractSliceOp getSlice(mlir::kv::WriteOp write, unsigned i);

/// The operation that puts result `i` of `write` back to where the destination
/// was taken from, or null.
mlir::tensor::InsertSliceOp getWriteBack(mlir::kv::WriteOp write, unsigned i);

/// The slice that `insert` puts back, after writes into it, or null if it
/// inserts something else.
mlir::tensor::ExtractSliceOp
getWrittenSlice(mlir::tensor::InsertSliceOp insert);

/// The operations that take the slices out right before `write`, itself, and
/// those that put them back right behind it, in order. Other operations do not
/// stand between them.
llvm::SmallVector<mlir::Operation *> getWithSlices(mlir::kv::WriteOp write);

/// Makes slices that are disjoint from what `insert` has written, and used
/// after it, slices of its result: the elements are the same, and nobody needs
/// the old version any more.
void readNewestVersion(mlir::tensor::InsertSliceOp insert,
                       mlir::DominanceInfo &dominance);

/// What kv-normalize-slices does. Passes that rely on its form do it again:
/// canonicalization, for one, makes the slice of a version what was put back
/// there.
void normalizeSlices(mlir::Operation *root);

} // namespace kvfuse

#endif // KVFUSE_FUSION_SLICES_H
