//===- Capability.h - What GPUs have ----------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place that asks what a chip is.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_CAPABILITY_H
#define KVFUSE_LOWERING_CAPABILITY_H

#include "llvm/ADT/StringRef.h"

namespace kvfuse {

/// Threads that run in step; blocks are made of whole warps.
inline constexpr unsigned kWarpSize = 32;

/// The compute capability of a chip such as "sm_90a".
class Capability {
public:
  explicit Capability(llvm::StringRef chip) {
    if (chip.consume_front("sm_"))
      chip.consumeInteger(10, number);
  }
  /// 90 for 9.0; 0 if the chip is no such chip.
  unsigned getNumber() const { return number; }
  bool hasFloat8Casts() const { return number >= 89; }
  bool hasDependentLaunch() const { return number >= 90; }
  /// PTX of the version that the instructions need; LLVM's choice otherwise.
  llvm::StringRef getFeatures() const { return number == 89 ? "+ptx81" : ""; }

private:
  unsigned number = 0;
};

} // namespace kvfuse

#endif // KVFUSE_LOWERING_CAPABILITY_H
