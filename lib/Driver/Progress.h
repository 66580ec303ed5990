//===- Progress.h - How far a compilation is, and whether to go on -*- C++ -*-//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_DRIVER_PROGRESS_H
#define KVFUSE_LIB_DRIVER_PROGRESS_H

#include "kvfuse/Driver/Compile.h"
#include <chrono>

namespace kvfuse {

/// Tells a caller of the pieces of work, passes and patterns, and leaves out
/// the rest of them once it says stop.
class Progress {
public:
  /// `context` is one that runs passes on the thread that calls it.
  Progress(mlir::MLIRContext &context, const ProgressFn &onProgress,
           unsigned numStages);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Begins the next stage.
  void startStage() { ++stage; }

  /// Begins a piece of work, one more of those before if it has no name;
  /// returns false if it is not to be done. So few pieces are reported that it
  /// costs nothing.
  bool startPiece(llvm::StringRef name);

  /// Reports that all is done; returns false if it is not wanted any more.
  bool finish();

  bool isStopped() const { return stopped; }

private:
  bool report();

  mlir::MLIRContext &context;
  const ProgressFn &onProgress;
  unsigned numStages;
  /// The one that runs, from 1 on.
  unsigned stage = 0;
  std::string piece;
  bool stopped = false;
  std::chrono::steady_clock::time_point lastReport;
};

} // namespace kvfuse

#endif // KVFUSE_LIB_DRIVER_PROGRESS_H
