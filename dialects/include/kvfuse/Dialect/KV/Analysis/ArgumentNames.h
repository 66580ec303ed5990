//===- ArgumentNames.h - Names of the model's code ------------ -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_ANALYSIS_ARGUMENTNAMES_H
#define KVFUSE_DIALECT_KV_ANALYSIS_ARGUMENTNAMES_H

#include "mlir/IR/Value.h"
#include <string>

namespace mlir::kv {

/// String attribute of a function's argument: its name in the model's code.
inline constexpr llvm::StringLiteral kNameAttr = "kv.name";

/// The name of the argument that `value` is, or a view of; empty if it has
/// none.
llvm::StringRef getArgumentName(Value value);

/// What a message adds to speak of `value`: " ('NAME')", or nothing.
std::string quoteName(Value value);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_ANALYSIS_ARGUMENTNAMES_H
