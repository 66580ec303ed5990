//===- DistinctBuffers.h - Aliases under the rules of kv --------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_ANALYSIS_DISTINCTBUFFERS_H
#define KVFUSE_DIALECT_KV_ANALYSIS_DISTINCTBUFFERS_H

#include "mlir/Analysis/AliasAnalysis/LocalAliasAnalysis.h"

namespace mlir::kv {

/// Upstream's local alias analysis, and one rule more: distinct arguments of a
/// function do not overlap (SM8), nor do distinct globals. To be added to
/// `AliasAnalysis`.
class DistinctBuffers : public LocalAliasAnalysis {
protected:
  AliasResult aliasImpl(Value lhs, Value rhs) override;
};

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_ANALYSIS_DISTINCTBUFFERS_H
