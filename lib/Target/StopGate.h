//===- StopGate.h - Leaving out what is left of LLVM's work -----*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_TARGET_STOPGATE_H
#define KVFUSE_LIB_TARGET_STOPGATE_H

#include "kvfuse/Target/Emit.h"
#include "llvm/IR/OptBisect.h"

namespace kvfuse {

/// Asks before each pass of LLVM that may be left out, in code generation too:
/// what is left after a stop is selection without optimisation, which is quick.
class StopGate : public llvm::OptPassGate {
public:
  explicit StopGate(StartPieceFn startPiece) : startPiece(startPiece) {}

  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    stopped = stopped || !startPiece(pass);
    return !stopped;
  }
  bool isEnabled() const override { return true; }

  bool isStopped() const { return stopped; }

private:
  StartPieceFn startPiece;
  mutable bool stopped = false;
};

} // namespace kvfuse

#endif // KVFUSE_LIB_TARGET_STOPGATE_H
