//===- Launch.cpp - Launches of kernels -----------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallContext.h"
#include "DeviceScope.h"
#include "Kernels.h"
#include "Message.h"
#include "StackBuffer.h"
#include <limits>

using namespace kvfuse::runtime;

static std::string describe(const KVFuseKernel &kernel) {
  return std::string("kernel '") + kernel.name + "' cannot be launched";
}

/// A launch takes 32-bit sizes; no size may lose its upper half.
static const char *checkSizes(const KVFuseKernel &kernel,
                              const int64_t (&sizes)[6]) {
  bool isInRange = true;
  for (int64_t size : sizes)
    isInRange &= size >= 0 && size <= std::numeric_limits<int32_t>::max();
  if (isInRange)
    return nullptr;
  std::string text = describe(kernel) + ": its grid and block are";
  for (int64_t size : sizes)
    text += " " + std::to_string(size);
  return setMessage(std::move(text));
}

const char *kvfuse_launch(KVFuseKernel *kernel, int64_t gridX, int64_t gridY,
                          int64_t gridZ, int64_t blockX, int64_t blockY,
                          int64_t blockZ, const int64_t *parameters,
                          int64_t numParameters) {
  int64_t sizes[] = {gridX, gridY, gridZ, blockX, blockY, blockZ};
  if (const char *message = checkSizes(*kernel, sizes))
    return message;
  if (gridX == 0 || gridY == 0 || gridZ == 0)
    return nullptr;

  const Driver *driver = nullptr;
  if (const char *message = getDriver(driver))
    return message;
  CallContext call;
  if (const CallContext *current = getCurrentCall())
    call = *current;
  else if (const char *message = getCurrentContextId(*driver, call.contextId))
    return message;
  auto *stream = static_cast<CUstream>(call.stream);
  CUfunction function = nullptr;
  if (const char *message =
          getFunction(*driver, *kernel, call.contextId, function))
    return message;

  StackBuffer<void *, 128> addresses(numParameters);
  for (int64_t i = 0; i < numParameters; ++i)
    addresses[i] = const_cast<int64_t *>(parameters + i);
  CUlaunchAttribute dependent = {};
  dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  bool isDependent = kernel->flags & KVFUSE_KERNEL_DEPENDENT_LAUNCH;
  CUlaunchConfig config = {static_cast<unsigned>(gridX),
                           static_cast<unsigned>(gridY),
                           static_cast<unsigned>(gridZ),
                           static_cast<unsigned>(blockX),
                           static_cast<unsigned>(blockY),
                           static_cast<unsigned>(blockZ),
                           /*sharedMemBytes=*/0,
                           stream,
                           isDependent ? &dependent : nullptr,
                           isDependent ? 1U : 0U};
  if (CUresult error =
          driver->launchKernelEx(&config, function, addresses.data(), nullptr))
    return driver->fail(describe(*kernel), "cuLaunchKernelEx", error);
  return nullptr;
}
