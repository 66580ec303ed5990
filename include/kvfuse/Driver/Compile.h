//===- Compile.h - A module's text to what is asked for ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler behind `kvfuse-compile` and `libkvfuse.so`. Nothing here prints,
// ends the process or keeps state between calls: threads may compile at once.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DRIVER_COMPILE_H
#define KVFUSE_DRIVER_COMPILE_H

#include "kvfuse/Pipelines/Pipelines.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kvfuse {

/// What `compile` makes. docs/kvfuse-compile.md describes each.
enum class EmitFormat {
  KV,
  Writes,
  GPU,
  NVVM,
  PTX,
  Cubin,
  LLVM,
  Object,
  Shared
};

/// The format that `--emit=name` means, or none.
std::optional<EmitFormat> symbolizeEmitFormat(llvm::StringRef name);

/// Called by the thread that compiles, before each piece of work: `done` stages
/// of `total` lie behind it. Returns false to stop the compilation.
using ProgressFn =
    std::function<bool(unsigned done, unsigned total, llvm::StringRef what)>;

/// What to compile a module to. `options.chip` follows from `target`.
struct CompileRequest {
  PipelineOptions options;
  /// "cpu", or a GPU such as "sm_90".
  std::string target = "sm_90";
  /// Left out: PTX, and an object for the CPU.
  std::optional<EmitFormat> emit;
  /// Optimisation of host code, 0 to 3.
  unsigned optLevel = 2;
  /// For a cubin; empty: as `emitCubin` looks for it.
  std::string ptxas;
  /// A report costs the lowering to kernels, whatever the format.
  bool wantsReport = true;
  /// A C header of what an object or a shared library exports.
  bool wantsHeader = false;
  /// Remarks as diagnostics, too.
  bool printRemarks = false;
  ProgressFn onProgress;
};

struct CompileResult {
  std::string output;
  /// JSON, or empty if none was wanted.
  std::string report;
  /// Empty if none was wanted.
  std::string header = {};
};

/// Versions of kvfuse and LLVM.
llvm::StringRef getVersion();

/// Fills in what `request` leaves out and checks its parts against each other;
/// returns what is wrong with it, or an empty string.
std::string completeRequest(CompileRequest &request);

/// Compiles `input`, MLIR text or bytecode, by a completed request. Diagnostics
/// are written to `diagnostics`, each with its location and the line there.
mlir::FailureOr<CompileResult>
compile(const CompileRequest &request,
        std::unique_ptr<llvm::MemoryBuffer> input,
        llvm::raw_ostream &diagnostics);

} // namespace kvfuse

#endif // KVFUSE_DRIVER_COMPILE_H
