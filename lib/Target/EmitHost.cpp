//===- EmitHost.cpp - LLVM IR, objects and shared libraries ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkHost.h"
#include "StopGate.h"
#include "Targets.h"
#include "kvfuse/Target/Emit.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace kvfuse;

/// A machine of this kind of processor, without features that not all have:
/// what is compiled here may run elsewhere.
static std::unique_ptr<llvm::TargetMachine> createHostMachine(unsigned level) {
  initializeTargets();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, /*CPU=*/"", /*Features=*/"", {}, llvm::Reloc::PIC_, std::nullopt,
      *llvm::CodeGenOpt::getLevel(level)));
}

/// Runs LLVM's standard passes. (MLIR's helper for this lives in a library that
/// brings libMLIR.so into a static tool.)
static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     unsigned level) {
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptPassGateInstrumentation gate(module.getContext());
  gate.registerCallbacks(callbacks);
  static const llvm::OptimizationLevel kLevels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(),
                            std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(kLevels[0])
                 : builder.buildPerModuleDefaultPipeline(kLevels[level]);
  passes.run(module, modules);
}

FailureOr<std::string> kvfuse::emitHost(ModuleOp module, HostFormat format,
                                        unsigned optLevel,
                                        StartPieceFn startPiece) {
  llvm::LLVMContext context;
  StopGate gate(startPiece);
  context.setOptPassGate(gate);
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "kvfuse");
  if (!llvmModule)
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine = createHostMachine(optLevel);
  if (!machine)
    return module.emitError("this machine's processor is not a target");
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  optimize(*llvmModule, *machine, optLevel);
  if (gate.isStopped())
    return failure();

  if (format == HostFormat::LLVMIR) {
    std::string text;
    llvm::raw_string_ostream(text) << *llvmModule;
    return text;
  }
  SmallString<0> object;
  {
    llvm::raw_svector_ostream os(object);
    llvm::legacy::PassManager codegen;
    if (machine->addPassesToEmitFile(codegen, os, nullptr,
                                     llvm::CodeGenFileType::ObjectFile))
      return module.emitError("no object can be emitted for this machine");
    codegen.run(*llvmModule);
    if (gate.isStopped())
      return failure();
  }
  if (format == HostFormat::Object)
    return object.str().str();

  return linkLibrary(module, object);
}
