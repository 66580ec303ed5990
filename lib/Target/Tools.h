//===- Tools.h - Assemblers and linkers of the system -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_TARGET_TOOLS_H
#define KVFUSE_LIB_TARGET_TOOLS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace kvfuse {

/// Path of the program `name` in `folders`, or on PATH if there are none; empty
/// if it is not there. A path is returned as it is, if it can be run.
std::string findTool(llvm::StringRef name,
                     llvm::ArrayRef<llvm::StringRef> folders = {});

/// Runs `tool arguments... OUT IN more...` on temporary files, IN with the
/// contents `input`, and returns the contents of OUT. The tool's own messages
/// are part of the error, at `module`.
mlir::FailureOr<std::string>
runTool(mlir::ModuleOp module, llvm::StringRef tool,
        llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
        llvm::StringRef inputSuffix, llvm::StringRef outputSuffix,
        llvm::ArrayRef<std::string> more = {});

} // namespace kvfuse

#endif // KVFUSE_LIB_TARGET_TOOLS_H
