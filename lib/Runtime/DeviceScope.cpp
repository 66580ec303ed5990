//===- DeviceScope.cpp - Contexts of devices ------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceScope.h"

#include "Message.h"
#include <atomic>
#include <map>
#include <mutex>

using namespace kvfuse::runtime;

static std::string describeDevice(int32_t ordinal) {
  return "cuda:" + std::to_string(ordinal) + " cannot be used";
}

/// Sets `context` to the primary context of `device`, which stays retained: as
/// many contexts as devices, until the process ends.
static CUresult getPrimary(const Driver &driver, CUdevice device,
                           CUcontext &context) {
  static std::mutex mutex;
  static std::map<CUdevice, CUcontext> retained;
  std::lock_guard<std::mutex> lock(mutex);
  CUcontext &known = retained[device];
  unsigned flags = 0;
  int active = 0;
  // Somebody may have reset the device since then.
  if (known)
    if (CUresult error =
            driver.devicePrimaryCtxGetState(device, &flags, &active))
      return error;
  if (!active)
    if (CUresult error = driver.devicePrimaryCtxRetain(&known, device))
      return error;
  context = known;
  return CUDA_SUCCESS;
}

const char *DeviceScope::pushPrimary(CUdevice device, int32_t ordinal) {
  CUcontext context = nullptr;
  if (CUresult error = getPrimary(*driver, device, context))
    return driver->fail(describeDevice(ordinal), "cuDevicePrimaryCtxRetain",
                        error);
  if (CUresult error = driver->ctxPushCurrent(context))
    return driver->fail(describeDevice(ordinal), "cuCtxPushCurrent", error);
  pushed = true;
  return nullptr;
}

/// The id of a context of the device `ordinal` that was current last, or null
/// for ordinals above those of a usual machine. A context's id stays its own,
/// and so does its device.
static std::atomic<uint64_t> *getLastContextId(int32_t ordinal) {
  static std::atomic<uint64_t> ids[64];
  return ordinal >= 0 && ordinal < 64 ? &ids[ordinal] : nullptr;
}

const char *DeviceScope::enter(int32_t ordinal) {
  if (const char *message = kvfuse::runtime::getDriver(driver))
    return message;
  std::atomic<uint64_t> *last = getLastContextId(ordinal);
  unsigned long long current = 0;
  // The usual case, by one call of the driver.
  if (last && driver->ctxGetId(nullptr, &current) == CUDA_SUCCESS &&
      current == last->load(std::memory_order_relaxed)) {
    contextId = current;
    return nullptr;
  }
  if (const char *message = makeCurrent(ordinal))
    return message;
  if (const char *message = getCurrentContextId(*driver, contextId))
    return message;
  if (last)
    last->store(contextId, std::memory_order_relaxed);
  return nullptr;
}

const char *DeviceScope::makeCurrent(int32_t ordinal) {
  CUdevice device = 0;
  if (CUresult error = driver->deviceGet(&device, ordinal))
    return driver->fail(describeDevice(ordinal), "cuDeviceGet", error);

  CUdevice current = 0;
  CUresult error = driver->ctxGetDevice(&current);
  // No context is current, or one that was destroyed.
  bool isElsewhere = error == CUDA_ERROR_INVALID_CONTEXT ||
                     error == CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (error && !isElsewhere)
    return driver->fail(describeDevice(ordinal), "cuCtxGetDevice", error);
  if (isElsewhere || current != device)
    return pushPrimary(device, ordinal);
  return nullptr;
}

DeviceScope::~DeviceScope() {
  CUcontext context = nullptr;
  if (pushed)
    driver->ctxPopCurrent(&context);
}

const char *kvfuse::runtime::getCurrentContextId(const Driver &driver,
                                                 uint64_t &id) {
  unsigned long long value = 0;
  if (CUresult error = driver.ctxGetId(nullptr, &value))
    return driver.fail("no CUDA context can be used in this thread",
                       "cuCtxGetId", error);
  id = value;
  return nullptr;
}
