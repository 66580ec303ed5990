//===- Passes.h - Layout: facts about strides and addresses -----*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_PASSES_H
#define KVFUSE_LAYOUT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kvfuse {

/// Name of the global that counts which branches ran, and of the attribute on
/// it that lists them: an array of dictionaries with `function`, `location` and
/// `branch`, one for each counter.
inline constexpr llvm::StringLiteral kBranchesGlobal = "kvfuse_branches";
inline constexpr llvm::StringLiteral kBranchesAttr = "kv.branches";

/// Name of the attribute of an `scf.if` that picks a version: the straight path
/// is the one through its first region.
inline constexpr llvm::StringLiteral kVersionsAttr = "kv.versions";

/// Name of the attribute of a version, and of its launch: what the branch is
/// called.
inline constexpr llvm::StringLiteral kBranchAttr = "kv.branch";

#define GEN_PASS_DECL
#include "kvfuse/Layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kvfuse/Layout/Passes.h.inc"

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_PASSES_H
