//===- Kernels.cpp - Loaded modules and kernels ---------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <mutex>

using namespace kvfuse::runtime;

namespace {
/// A module or a kernel of one context. The `state` of a KVFuseModule and of a
/// KVFuseKernel is the first of a list of these, which only ever grows at its
/// head: launches walk it without a lock.
template <typename T> struct Loaded {
  uint64_t contextId;
  T loaded;
  const Loaded *next;

  static const Loaded *getFirst(void *const &state) {
    return static_cast<const Loaded *>(
        __atomic_load_n(&state, __ATOMIC_ACQUIRE));
  }

  static const T *find(void *const &state, uint64_t contextId) {
    for (const Loaded *it = getFirst(state); it; it = it->next)
      if (it->contextId == contextId)
        return &it->loaded;
    return nullptr;
  }

  /// The caller holds the lock of `loadKernel`.
  static const T *add(void *&state, uint64_t contextId, T loaded) {
    auto *first = new Loaded{contextId, loaded, getFirst(state)};
    __atomic_store_n(&state, static_cast<void *>(first), __ATOMIC_RELEASE);
    return &first->loaded;
  }
};
using LoadedKernels = Loaded<LoadedKernel>;
using LoadedModules = Loaded<CUmodule>;

/// Lets the thread do for a scope what a capture forbids otherwise. Loading
/// needs it: it is no part of what is captured, and does not wait for it.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  /// If this fails, loading does, which is reported.
  void exchange() { driver.threadExchangeStreamCaptureMode(&mode); }

  const Driver &driver;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
};
} // namespace

static std::string describe(const KVFuseKernel &kernel) {
  return std::string("kernel '") + kernel.name + "' cannot be loaded";
}

static const char *loadModule(const Driver &driver, const KVFuseKernel &kernel,
                              uint64_t contextId, CUmodule &module) {
  void *&state = kernel.module->state;
  if (const CUmodule *loaded = LoadedModules::find(state, contextId)) {
    module = *loaded;
    return nullptr;
  }
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // The size is passed in the place of a pointer.
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  if (CUresult error = driver.moduleLoadDataEx(&module, kernel.module->image, 2,
                                               options, values)) {
    std::string what = describe(kernel);
    if (log[0])
      what += std::string(" (") + log + ")";
    return driver.fail(what, "cuModuleLoadDataEx", error);
  }
  LoadedModules::add(state, contextId, module);
  return nullptr;
}

/// Asks the driver where the parameters of `kernel` lie.
static void findSlots(const Driver &driver, LoadedKernel &kernel) {
  if (!driver.funcGetParamInfo)
    return;
  size_t index = 0;
  size_t offset = 0;
  size_t bytes = 0;
  size_t numBytes = 0;
  // The first index behind the last is an error.
  while (!driver.funcGetParamInfo(kernel.function, index, &offset, &bytes)) {
    if (offset != 8 * index || bytes > 8)
      return;
    numBytes = offset + bytes;
    ++index;
  }
  kernel.numSlots = static_cast<int64_t>(index);
  kernel.numBytes = numBytes;
}

static const char *loadKernel(const Driver &driver, KVFuseKernel &kernel,
                              uint64_t contextId, const LoadedKernel *&loaded) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  loaded = LoadedKernels::find(kernel.state, contextId);
  if (loaded)
    return nullptr;
  RelaxedCapture relaxed(driver);
  CUmodule module = nullptr;
  if (const char *message = loadModule(driver, kernel, contextId, module))
    return message;
  LoadedKernel found;
  if (CUresult error =
          driver.moduleGetFunction(&found.function, module, kernel.name))
    return driver.fail(describe(kernel), "cuModuleGetFunction", error);
  // A driver that loads lazily would otherwise do so at the first launch, where
  // a capture forbids it.
  if (driver.funcLoad)
    if (CUresult error = driver.funcLoad(found.function))
      return driver.fail(describe(kernel), "cuFuncLoad", error);
  findSlots(driver, found);
  loaded = LoadedKernels::add(kernel.state, contextId, found);
  return nullptr;
}

const char *kvfuse::runtime::getKernel(const Driver &driver,
                                       KVFuseKernel &kernel, uint64_t contextId,
                                       const LoadedKernel *&loaded) {
  loaded = LoadedKernels::find(kernel.state, contextId);
  if (loaded)
    return nullptr;
  return loadKernel(driver, kernel, contextId, loaded);
}
