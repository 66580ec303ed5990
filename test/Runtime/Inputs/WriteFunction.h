//===- WriteFunction.h - A compiled function of the tests -------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_TEST_RUNTIME_WRITEFUNCTION_H
#define KVFUSE_TEST_RUNTIME_WRITEFUNCTION_H

#include "Testing.h"

namespace testing {

inline KVFuseModule module = {"code", 5, nullptr};
inline KVFuseKernel kernel = {&module, "write0", 0, nullptr};

/// Host code that launches `kernel`.
inline const char *launchOne(void **) {
  return kvfuse_launch(&kernel, 1, 1, 1, 32, 1, 1, nullptr, 0);
}

inline const int64_t kAnySize[] = {-1};
inline const KVFuseArgument kSlots = {"slots", kInt64, 1, 0, kAnySize};
inline KVFuseKernel *const kKernels[] = {&kernel};
/// write(slots), on a GPU.
inline const KVFuseFunction kWrite = {"write", launchOne, &kSlots, 1,
                                      kDLCUDA, kKernels,  1};

} // namespace testing

#endif // KVFUSE_TEST_RUNTIME_WRITEFUNCTION_H
