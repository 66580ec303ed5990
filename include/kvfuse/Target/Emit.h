//===- Emit.h - Lowered modules to files ------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function returns the contents of a file, or failure after an error was
// emitted at the module.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_TARGET_EMIT_H
#define KVFUSE_TARGET_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace kvfuse {

/// GPUs that kernels can be compiled for, such as "sm_90": what LLVM knows from
/// sm_80 on.
llvm::ArrayRef<std::string> getSupportedChips();

/// Called before pieces of LLVM's work, passes on functions, by name. Returns
/// false to leave out the rest and to fail without an error.
using StartPieceFn = llvm::function_ref<bool(llvm::StringRef)>;

/// PTX of the kernels of `module`, which are in the NVVM dialect with a target
/// attached. `module` is changed.
mlir::FailureOr<std::string> emitPTX(mlir::ModuleOp module,
                                     StartPieceFn startPiece);

/// The path of `ptxas`, a path or a name to look up, or empty: then the
/// environment (KVFUSE_PTXAS, CUDA_HOME, PATH) says where it is. Empty if it is
/// not there.
std::string findPtxas(llvm::StringRef ptxas);

/// `ptx` assembled by `findPtxas(ptxas)`.
mlir::FailureOr<std::string> emitCubin(mlir::ModuleOp module,
                                       llvm::StringRef ptx,
                                       llvm::StringRef chip,
                                       llvm::StringRef ptxas);

enum class HostFormat { LLVMIR, Object, SharedLibrary };

/// Host code of `module`, which is in the LLVM dialect, for this machine's kind
/// of processor, optimised at `optLevel` (0 to 3).
mlir::FailureOr<std::string> emitHost(mlir::ModuleOp module, HostFormat format,
                                      unsigned optLevel,
                                      StartPieceFn startPiece);

/// A C header that declares the functions that `module`, which is in the LLVM
/// dialect, exports; `target` is "cpu" or a GPU.
std::string emitHeader(mlir::ModuleOp module, llvm::StringRef target);

} // namespace kvfuse

#endif // KVFUSE_TARGET_EMIT_H
