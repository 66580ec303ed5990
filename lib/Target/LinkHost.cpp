//===- LinkHost.cpp - Objects to shared libraries -------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkHost.h"

#include "Tools.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace kvfuse;

/// Writes what a linker has to know of kvfuse's runtime, which need not be on
/// this machine: its name, and what it defines.
static llvm::Error writeRuntimeStub(StringRef path) {
  llvm::ifs::IFSStub stub;
  stub.SoName = "libkvfuse_runtime.so";
  stub.Target = llvm::ifs::parseTriple(llvm::sys::getDefaultTargetTriple());
  for (const char *name : {"kvfuse_allocate", "kvfuse_call", "kvfuse_launch",
                           "kvfuse_load", "kvfuse_release"}) {
    llvm::ifs::IFSSymbol symbol(name);
    symbol.Type = llvm::ifs::IFSSymbolType::Func;
    stub.Symbols.push_back(std::move(symbol));
  }
  return llvm::ifs::writeBinaryStub(path, stub);
}

FailureOr<std::string> kvfuse::linkLibrary(ModuleOp module, StringRef object) {
  SmallString<128> runtime;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("kvfuse_runtime", "so", runtime))
    return module.emitError("cannot make a temporary file: ")
           << error.message();
  llvm::FileRemover remover(runtime);
  if (llvm::Error error = writeRuntimeStub(runtime))
    return module.emitError("cannot write a temporary file: ")
           << llvm::toString(std::move(error));
  for (StringRef linker : {"ld.lld-22", "ld.lld", "ld"})
    if (std::string tool = findTool(linker); !tool.empty())
      return runTool(module, tool, {"-shared", "--as-needed", "-o"}, object,
                     "o", "so", {runtime.str().str()});
  return module.emitError("no linker was found: install lld");
}
