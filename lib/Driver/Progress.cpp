//===- Progress.cpp - How far a compilation is, and whether to go on ------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;
using namespace kvfuse;

/// A caller hears of a piece this long after the one before, or not at all.
static constexpr std::chrono::milliseconds kInterval(20);

Progress::Progress(MLIRContext &context, const ProgressFn &onProgress,
                   unsigned numStages)
    : context(context), onProgress(onProgress), numStages(numStages) {
  if (!onProgress)
    return;
  context.registerActionHandler(
      [this](function_ref<void()> run, const tracing::Action &action) {
        auto *pass = dyn_cast<PassExecutionAction>(&action);
        bool goOn = startPiece(pass ? pass->getPass().getArgument() : "");
        // Without its passes and patterns the rest of the work is soon done.
        if (goOn || !isa<PassExecutionAction, ApplyPatternAction>(action))
          run();
      });
}

Progress::~Progress() { context.registerActionHandler(nullptr); }

bool Progress::startPiece(StringRef name) {
  if (stopped || !onProgress)
    return !stopped;
  if (!name.empty())
    piece = name.str();
  return std::chrono::steady_clock::now() - lastReport < kInterval || report();
}

bool Progress::finish() {
  stage = numStages + 1;
  piece.clear();
  return !onProgress || report();
}

bool Progress::report() {
  lastReport = std::chrono::steady_clock::now();
  stopped = !onProgress(stage - 1, numStages, piece);
  return !stopped;
}
