//===- LinkHost.h - Objects to shared libraries --------------- -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_TARGET_LINKHOST_H
#define KVFUSE_LIB_TARGET_LINKHOST_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace kvfuse {

/// A shared library of `object`, which needs kvfuse's runtime, by name, if it
/// calls it; or failure after an error was emitted at `module`.
mlir::FailureOr<std::string> linkLibrary(mlir::ModuleOp module,
                                         llvm::StringRef object);

} // namespace kvfuse

#endif // KVFUSE_LIB_TARGET_LINKHOST_H
