//===- EmitGPU.cpp - PTX and cubin ----------------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StopGate.h"
#include "Targets.h"
#include "Tools.h"
#include "kvfuse/Lowering/Capability.h"
#include "kvfuse/Target/Emit.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace kvfuse;

static std::vector<std::string> listChips() {
  initializeTargets();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return {};
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  std::vector<std::string> chips;
  for (const llvm::SubtargetSubTypeKV &chip :
       info->getAllProcessorDescriptions())
    if (Capability(chip.Key).getNumber() >= 80)
      chips.emplace_back(chip.Key);
  // LLVM sorts by name: sm_100 before sm_90.
  llvm::sort(chips, [](StringRef lhs, StringRef rhs) {
    return std::pair(Capability(lhs).getNumber(), lhs) <
           std::pair(Capability(rhs).getNumber(), rhs);
  });
  return chips;
}

ArrayRef<std::string> kvfuse::getSupportedChips() {
  static const std::vector<std::string> chips = listChips();
  return chips;
}

FailureOr<std::string> kvfuse::emitPTX(ModuleOp module,
                                       StartPieceFn startPiece) {
  StopGate gate(startPiece);
  SymbolTable symbols(module);
  gpu::TargetOptions options(
      /*toolkitPath=*/{}, /*librariesToLink=*/{}, /*cmdOptions=*/{},
      /*elfSection=*/{}, gpu::CompilationTarget::Assembly,
      [&]() { return &symbols; },
      [&](llvm::Module &kernels) {
        kernels.getContext().setOptPassGate(gate);
      });
  if (failed(gpu::transformGpuModulesToBinaries(module, nullptr, options)) ||
      gate.isStopped())
    return failure();
  auto binaries = llvm::to_vector(module.getOps<gpu::BinaryOp>());
  if (binaries.size() != 1)
    return module.emitError("expects one module of kernels, but has ")
           << binaries.size();
  auto object = cast<gpu::ObjectAttr>(binaries.front().getObjects()[0]);
  StringRef text = object.getObject().getValue();
  return text.rtrim('\0').str();
}

std::string kvfuse::findPtxas(StringRef ptxas) {
  auto fromFolder = [](std::optional<std::string> folder) {
    return folder ? findTool("ptxas", {*folder + "/bin"}) : std::string();
  };
  if (!ptxas.empty())
    return findTool(ptxas);
  if (auto path = llvm::sys::Process::GetEnv("KVFUSE_PTXAS"))
    return findTool(*path);
  std::string found = fromFolder(llvm::sys::Process::GetEnv("CUDA_HOME"));
  if (found.empty())
    found = findTool("ptxas");
  if (found.empty())
    found = fromFolder(std::string("/usr/local/cuda"));
  return found;
}

FailureOr<std::string> kvfuse::emitCubin(ModuleOp module, StringRef ptx,
                                         StringRef chip, StringRef ptxas) {
  std::string tool = findPtxas(ptxas);
  if (tool.empty())
    return module.emitError("ptxas was not found; name it with --ptxas, or set "
                            "KVFUSE_PTXAS or CUDA_HOME");
  return runTool(module, tool, {("-arch=" + chip).str(), "-o"}, ptx, "ptx",
                 "cubin");
}
