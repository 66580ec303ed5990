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

/// What a launch outside of a call needs: the current context, and stream 0.
static const char *enterDirectly(CallContext &call) {
  if (const char *message = getDriver(call.driver))
    return message;
  return getCurrentContextId(*call.driver, call.contextId);
}

/// Launches with one address for each parameter.
static CUresult launchByAddress(const Driver &driver,
                                const CUlaunchConfig &config,
                                CUfunction function, int64_t *parameters,
                                int64_t numParameters) {
  StackBuffer<void *, 128> buffer(numParameters);
  void **addresses = buffer.data();
  for (int64_t i = 0; i < numParameters; ++i)
    addresses[i] = parameters + i;
  return driver.launchKernelEx(&config, function, addresses, nullptr);
}

/// Launches with all parameters as they lie, which the driver copies at once,
/// where the kernel is known to have them there.
static CUresult launch(const Driver &driver, const CUlaunchConfig &config,
                       const LoadedKernel &kernel, int64_t *parameters,
                       int64_t numParameters) {
  if (numParameters == 0 || kernel.numSlots != numParameters)
    return launchByAddress(driver, config, kernel.function, parameters,
                           numParameters);
  size_t numBytes = kernel.numBytes;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &numBytes, CU_LAUNCH_PARAM_END};
  return driver.launchKernelEx(&config, kernel.function, nullptr, extra);
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

  CallContext direct;
  const CallContext *call = getCurrentCall();
  if (!call) {
    if (const char *message = enterDirectly(direct))
      return message;
    call = &direct;
  }
  const Driver &driver = *call->driver;
  const LoadedKernel *loaded = nullptr;
  if (const char *message = getKernel(driver, *kernel, call->contextId, loaded))
    return message;

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
                           static_cast<CUstream>(call->stream),
                           isDependent ? &dependent : nullptr,
                           isDependent ? 1U : 0U};
  if (CUresult error = launch(driver, config, *loaded,
                              const_cast<int64_t *>(parameters), numParameters))
    return driver.fail(describe(*kernel), "cuLaunchKernelEx", error);
  return nullptr;
}
