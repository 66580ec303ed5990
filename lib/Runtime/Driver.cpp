//===- Driver.cpp - The CUDA driver ---------------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Message.h"
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>

using namespace kvfuse::runtime;

namespace {
struct LoadedDriver {
  Driver driver = {};
  /// Why there is no driver; empty if there is one.
  std::string error;
};
} // namespace

/// Set in the children of a process that initialized CUDA. What the driver says
/// there differs by its version, and its locks may be held for ever.
static std::atomic<bool> isForked = false;

/// Names carry the version of the function's signature, as cuda.h does.
template <typename Function>
static bool resolve(void *library, const char *symbol, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(library, symbol));
  return function != nullptr;
}

static std::string resolveAll(void *library, Driver &driver) {
  std::string missing;
  auto require = [&](const char *symbol, auto *&function) {
    if (!resolve(library, symbol, function))
      missing = symbol;
  };
  require("cuInit", driver.init);
  require("cuGetErrorName", driver.getErrorName);
  require("cuGetErrorString", driver.getErrorString);
  require("cuDeviceGet", driver.deviceGet);
  require("cuDevicePrimaryCtxRetain", driver.devicePrimaryCtxRetain);
  require("cuDevicePrimaryCtxGetState", driver.devicePrimaryCtxGetState);
  require("cuCtxGetDevice", driver.ctxGetDevice);
  require("cuCtxGetId", driver.ctxGetId);
  require("cuCtxPushCurrent_v2", driver.ctxPushCurrent);
  require("cuCtxPopCurrent_v2", driver.ctxPopCurrent);
  require("cuModuleLoadDataEx", driver.moduleLoadDataEx);
  require("cuModuleGetFunction", driver.moduleGetFunction);
  require("cuThreadExchangeStreamCaptureMode",
          driver.threadExchangeStreamCaptureMode);
  require("cuLaunchKernelEx", driver.launchKernelEx);
  resolve(library, "cuFuncLoad", driver.funcLoad);
  resolve(library, "cuFuncGetParamInfo", driver.funcGetParamInfo);
  return missing;
}

static LoadedDriver load() {
  LoadedDriver loaded;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    loaded.error = std::string("no CUDA driver can be loaded: ") + dlerror();
    return loaded;
  }
  Driver &driver = loaded.driver;
  if (std::string missing = resolveAll(library, driver); !missing.empty()) {
    loaded.error = "the CUDA driver has no " + missing +
                   ": install a driver of CUDA 12.0 or newer";
    return loaded;
  }
  if (CUresult error = driver.init(0))
    loaded.error = driver.fail("CUDA cannot be used", "cuInit", error);
  else
    pthread_atfork(nullptr, nullptr, [] { isForked = true; });
  return loaded;
}

const char *kvfuse::runtime::getDriver(const Driver *&driver) {
  if (isForked.load(std::memory_order_relaxed))
    return setMessage("CUDA cannot be used in a process that was forked after "
                      "CUDA was initialized: start it by 'spawn'");
  static const LoadedDriver loaded = load();
  if (!loaded.error.empty())
    return setMessage(loaded.error);
  driver = &loaded.driver;
  return nullptr;
}

/// What a user can do about `error`, or why it came; or an empty text.
static const char *getHint(CUresult error) {
  if (error >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
      error <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    return "load the function before capture: call it once, or its _load";
  switch (error) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return "the device has no memory left for the kernel's code";
  case CUDA_ERROR_NOT_INITIALIZED:
  case CUDA_ERROR_DEINITIALIZED:
    return "CUDA was shut down, or this process was forked after CUDA was "
           "initialized: start it by 'spawn'";
  case CUDA_ERROR_INVALID_CONTEXT:
  case CUDA_ERROR_INVALID_HANDLE:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    return "the device's context, or the stream, was destroyed or is of "
           "another device: make the tensors and the stream anew";
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    return "the function was compiled for another kind of device: compile it "
           "for this one";
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return "compile it for this device, or to a cubin, or install a newer "
           "driver";
  case CUDA_ERROR_ASSERT:
    return "a check in an earlier kernel failed, such as an index out of "
           "bounds; the context is lost";
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_FAILED:
    return "an earlier kernel failed, of kvfuse or not; the context is lost";
  default:
    return "";
  }
}

const char *Driver::fail(const std::string &what, const char *call,
                         CUresult error) const {
  const char *name = nullptr;
  const char *text = nullptr;
  std::string message = what + ": " + call + " returned ";
  if (getErrorName(error, &name) == CUDA_SUCCESS && name)
    message += name;
  else
    message += "error " + std::to_string(error);
  if (getErrorString(error, &text) == CUDA_SUCCESS && text)
    message += std::string(" (") + text + ")";
  if (const char *hint = getHint(error); *hint)
    message += std::string("; ") + hint;
  return setMessage(std::move(message));
}
