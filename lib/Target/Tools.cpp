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

/// Makes a temporary file with `contents` that `remover` deletes. (LLVM's own
/// temporary files install handlers of signals for the whole process, which is
/// not a library's.)
static std::error_code makeTemporary(StringRef suffix, StringRef contents,
                                     SmallString<128> &path,
                                     llvm::FileRemover &remover) {
  int fd;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("kvfuse", suffix, fd, path))
    return error;
  remover.setFile(path);
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << contents;
  os.close();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

FailureOr<std::string> kvfuse::runTool(ModuleOp module, StringRef tool,
                                       ArrayRef<std::string> arguments,
                                       StringRef input, StringRef inputSuffix,
                                       StringRef outputSuffix,
                                       ArrayRef<std::string> more) {
  SmallString<128> inPath, outPath, logPath;
  llvm::FileRemover removeIn, removeOut, removeLog;
  std::error_code error = makeTemporary(inputSuffix, input, inPath, removeIn);
  if (!error)
    error = makeTemporary(outputSuffix, "", outPath, removeOut);
  if (!error)
    error = makeTemporary("log", "", logPath, removeLog);
  if (error)
    return module.emitError("cannot make a temporary file: ")
           << error.message();

  SmallVector<StringRef> command = {tool};
  llvm::append_range(command, arguments);
  command.append({outPath, inPath});
  llvm::append_range(command, more);
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
