//===- Conflicts.h - What keeps writes from being one -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Destinations that are written at once must be disjoint (SM2), and disjoint
// from what is read for the others (SM3). These functions, for buffers, tell
// what is known at compile time from what a test of addresses can decide.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_ANALYSIS_CONFLICTS_H
#define KVFUSE_DIALECT_KV_ANALYSIS_CONFLICTS_H

#include "kvfuse/Dialect/KV/IR/KV.h"

namespace mlir {
class AliasAnalysis;
} // namespace mlir

namespace mlir::kv {

/// Do two sets of elements overlap? `No` is proven. `Yes` is known so far that
/// a test at run time would be useless: the memrefs that the elements lie in
/// overlap, or nothing about them is dynamic. `Maybe` is for the test to say.
enum class Overlap { No, Maybe, Yes };

/// Of what destination `i` of `lhs` and destination `j` of `rhs` store. `lhs`
/// and `rhs` may be one write.
Overlap classifyDestinations(WriteOp lhs, unsigned i, WriteOp rhs, unsigned j,
                             AliasAnalysis &aliases);

/// Of `input`, a memref that is read, and what destination `i` of `write`
/// stores.
Overlap classifyInput(Value input, WriteOp write, unsigned i,
                      AliasAnalysis &aliases);

/// Two memrefs that are not proven to be apart, where one is written and the
/// other one is written, or read, at the same time.
struct Conflict {
  Value dest, other;
  bool isRead;
  Overlap overlap;
};

/// What is not proven of the destinations of `write`: that they are disjoint
/// from one another and from what the write reads for the others. With one
/// destination there is nothing to prove.
SmallVector<Conflict> getConflicts(WriteOp write, AliasAnalysis &aliases);

/// What is not proven of `lhs` and `rhs` together: that neither writes what the
/// other one writes or reads.
SmallVector<Conflict> getConflicts(WriteOp lhs, WriteOp rhs,
                                   AliasAnalysis &aliases);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_ANALYSIS_CONFLICTS_H
