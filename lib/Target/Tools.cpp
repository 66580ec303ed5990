//===- Tools.cpp - Assemblers and linkers of the system -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace kvfuse;

std::string kvfuse::findTool(StringRef name, ArrayRef<StringRef> folders) {
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name, folders);
  return path && llvm::sys::fs::can_execute(*path) ? *path : std::string();
}

/// Makes an empty temporary file that `remover` deletes.
static std::error_code makeTemporary(StringRef suffix, SmallString<128> &path,
                                     llvm::FileRemover &remover) {
  std::error_code error =
      llvm::sys::fs::createTemporaryFile("kvfuse", suffix, path);
  if (!error)
    remover.setFile(path);
  return error;
}

FailureOr<std::string> kvfuse::runTool(ModuleOp module, StringRef tool,
                                       ArrayRef<std::string> arguments,
                                       StringRef input, StringRef inputSuffix,
                                       StringRef outputSuffix) {
  SmallString<128> inPath, outPath, logPath;
  llvm::FileRemover removeIn, removeOut, removeLog;
  std::error_code error = makeTemporary(inputSuffix, inPath, removeIn);
  if (!error)
    error = makeTemporary(outputSuffix, outPath, removeOut);
  if (!error)
    error = makeTemporary("log", logPath, removeLog);
  if (error)
    return module.emitError("cannot make a temporary file: ")
           << error.message();
  if (llvm::Error failed =
          llvm::writeToOutput(inPath, [&](raw_ostream &os) -> llvm::Error {
            os << input;
            return llvm::Error::success();
          }))
    return module.emitError("cannot write a temporary file: ")
           << llvm::toString(std::move(failed));

  SmallVector<StringRef> command = {tool};
  llvm::append_range(command, arguments);
  command.append({outPath, inPath});
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(logPath),
                                          StringRef(logPath)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(tool, command, std::nullopt, redirects,
                                       0, 0, &message);
  if (code != 0) {
    if (auto log = llvm::MemoryBuffer::getFile(logPath))
      message += (*log)->getBuffer().trim();
    return module.emitError("'") << tool << "' failed: " << message;
  }
  auto output = llvm::MemoryBuffer::getFile(outPath);
  if (!output)
    return module.emitError("cannot read what '")
           << tool << "' wrote: " << output.getError().message();
  return (*output)->getBuffer().str();
}
