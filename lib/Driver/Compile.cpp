//===- Compile.cpp - A module's text to what is asked for -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Driver/Compile.h"

#include "Compilation.h"
#include "kvfuse/Lowering/Capability.h"
#include "kvfuse/Target/Emit.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace kvfuse;

std::optional<EmitFormat> kvfuse::symbolizeEmitFormat(StringRef name) {
  return llvm::StringSwitch<std::optional<EmitFormat>>(name)
      .Case("kv", EmitFormat::KV)
      .Case("writes", EmitFormat::Writes)
      .Case("gpu", EmitFormat::GPU)
      .Case("nvvm", EmitFormat::NVVM)
      .Case("ptx", EmitFormat::PTX)
      .Case("cubin", EmitFormat::Cubin)
      .Case("llvm", EmitFormat::LLVM)
      .Case("obj", EmitFormat::Object)
      .Case("shared", EmitFormat::Shared)
      .Default(std::nullopt);
}

StringRef kvfuse::getVersion() {
  return "kvfuse " KVFUSE_VERSION ", LLVM " LLVM_VERSION_STRING;
}

/// Threads of a block, at most.
static constexpr unsigned kMaxBlockSize = 1024;
/// More tokens than this only make the code of a kernel longer.
static constexpr unsigned kMaxTokensPerThread = 16;

std::string kvfuse::completeRequest(CompileRequest &request) {
  bool onCPU = request.target == "cpu";
  if (!onCPU && !llvm::is_contained(getSupportedChips(), request.target))
    return "unknown target '" + request.target +
           "' for --target; known are cpu, " +
           llvm::join(getSupportedChips(), ", ");
  if (!onCPU)
    request.options.chip = request.target;
  if (!request.emit)
    request.emit = onCPU ? EmitFormat::Object : EmitFormat::PTX;
  if (onCPU && isKernelFormat(*request.emit))
    return "--emit=nvvm, ptx and cubin go with a GPU target, not with "
           "--target=cpu";
  if (request.wantsHeader && request.emit != EmitFormat::Object &&
      request.emit != EmitFormat::Shared)
    return "--header goes with --emit=obj and shared";
  if (request.optLevel > 3)
    return "expects -O0 to -O3";
  if (request.options.blockSize % kWarpSize != 0 ||
      request.options.blockSize > kMaxBlockSize)
    return "--block-size is a multiple of 32, at most 1024";
  if (request.options.tokensPerThread > kMaxTokensPerThread)
    return "--tokens-per-thread is at most 16";
  return {};
}

/// Every dialect that the input may use, and what is needed to lower it.
static DialectRegistry createRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllGPUToLLVMIRTranslations(registry);
  registerAllToLLVMIRTranslations(registry);
  registerDialects(registry);
  return registry;
}

FailureOr<CompileResult>
kvfuse::compile(const CompileRequest &request,
                std::unique_ptr<llvm::MemoryBuffer> input,
                raw_ostream &diagnostics) {
  static const DialectRegistry registry = createRegistry();
  // Most of the work is on one module; its few parallel pieces are not worth a
  // pool of threads. `onProgress` relies on it.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  // A location says enough; the operation may be the whole module.
  context.printOpOnDiagnostic(false);
  std::vector<RecordedRemark> remarks;
  recordRemarks(context, remarks, request.printRemarks);

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  return Compilation(request, *module, remarks).run();
}
