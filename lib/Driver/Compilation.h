//===- Compilation.h - The stages of one compilation ------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_DRIVER_COMPILATION_H
#define KVFUSE_LIB_DRIVER_COMPILATION_H

#include "Progress.h"
#include "kvfuse/Driver/Compile.h"
#include "kvfuse/Target/Report.h"

namespace kvfuse {

/// Does `format` hold host code?
bool isHostFormat(EmitFormat format);

/// Does `format` hold kernels, and nothing else?
bool isKernelFormat(EmitFormat format);

/// One run: a module through the stages, up to what is asked for.
class Compilation {
public:
  /// `remarks` are those that the context of `module` keeps.
  Compilation(const CompileRequest &request, mlir::ModuleOp module,
              std::vector<RecordedRemark> &remarks);

  /// The result, or failure after a diagnostic.
  mlir::FailureOr<CompileResult> run();

private:
  mlir::LogicalResult
  runStage(llvm::function_ref<void(mlir::OpPassManager &)> build);

  /// kv IR on tensors to functions of `module @kvfuse` on buffers.
  mlir::LogicalResult makeWrites();

  mlir::LogicalResult makeKernels();

  /// Refusals of writes that were left behind, for they cannot be done in
  /// place, and with `--fuse=required` every one, are errors at the write.
  mlir::LogicalResult rejectRefusals();

  std::string makeReport();

  mlir::FailureOr<std::string> emitBinary();

  /// `nested`, which is in the LLVM dialect, as LLVM IR, object or library, and
  /// its header.
  mlir::FailureOr<std::string> emitHostFormat(mlir::ModuleOp nested);

  const CompileRequest &request;
  mlir::ModuleOp module;
  std::vector<RecordedRemark> &remarks;
  LaunchCounts unfused;
  std::string header;
  Progress progress;
};

} // namespace kvfuse

#endif // KVFUSE_LIB_DRIVER_COMPILATION_H
