//===- Targets.h - LLVM's targets -------------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_TARGET_TARGETS_H
#define KVFUSE_LIB_TARGET_TARGETS_H

namespace kvfuse {

/// Registers this machine and NVPTX with LLVM, once. LLVM's registry has no
/// lock, so this comes before any use of it, by any thread.
void initializeTargets();

} // namespace kvfuse

#endif // KVFUSE_LIB_TARGET_TARGETS_H
