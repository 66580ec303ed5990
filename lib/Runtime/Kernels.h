//===- Kernels.h - Loaded modules and kernels -------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_KERNELS_H
#define KVFUSE_LIB_RUNTIME_KERNELS_H

#include "Driver.h"
#include "kvfuse/Runtime/Runtime.h"

namespace kvfuse::runtime {

/// A kernel that is loaded in a context.
struct LoadedKernel {
  CUfunction function = nullptr;
  /// If it is known that each parameter begins a slot of 8 bytes: the slots,
  /// and the bytes up to the end of the last parameter. 0 otherwise.
  int64_t numSlots = 0;
  size_t numBytes = 0;
};

/// Sets `loaded` to `kernel` in the current context, whose id is `contextId`,
/// and loads it, and its module, if this is the first time. Returns null, or a
/// message.
///
/// What is loaded stays until its context is destroyed: a captured graph may
/// hold it.
const char *getKernel(const Driver &driver, KVFuseKernel &kernel,
                      uint64_t contextId, const LoadedKernel *&loaded);

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_KERNELS_H
