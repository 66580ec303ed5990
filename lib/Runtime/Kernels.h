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

/// Sets `function` to `kernel` in the current context, whose id is `contextId`,
/// and loads it, and its module, if this is the first time. Returns null, or a
/// message.
///
/// What is loaded stays until its context is destroyed: a captured graph may
/// hold it.
const char *getFunction(const Driver &driver, KVFuseKernel &kernel,
                        uint64_t contextId, CUfunction &function);

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_KERNELS_H
