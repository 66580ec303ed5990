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
template <typename Handle> struct Loaded {
  uint64_t contextId;
  Handle handle;
  const Loaded *next;

  static const Loaded *getFirst(void *const &state) {
    return static_cast<const Loaded *>(
        __atomic_load_n(&state, __ATOMIC_ACQUIRE));
  }

  static Handle find(void *const &state, uint64_t contextId) {
    for (const Loaded *it = getFirst(state); it; it = it->next)
      if (it->contextId == contextId)
        return it->handle;
    return nullptr;
  }

  /// The caller holds the lock of `loadFunction`.
  static void add(void *&state, uint64_t contextId, Handle handle) {
    auto *first = new Loaded{contextId, handle, getFirst(state)};
    __atomic_store_n(&state, static_cast<void *>(first), __ATOMIC_RELEASE);
  }
};
using LoadedFunction = Loaded<CUfunction>;
using LoadedModule = Loaded<CUmodule>;

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
  module = LoadedModule::find(state, contextId);
  if (module)
    return nullptr;
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
  LoadedModule::add(state, contextId, module);
  return nullptr;
}

static const char *loadFunction(const Driver &driver, KVFuseKernel &kernel,
                                uint64_t contextId, CUfunction &function) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  function = LoadedFunction::find(kernel.state, contextId);
  if (function)
    return nullptr;
  RelaxedCapture relaxed(driver);
  CUmodule module = nullptr;
  if (const char *message = loadModule(driver, kernel, contextId, module))
    return message;
  if (CUresult error = driver.moduleGetFunction(&function, module, kernel.name))
    return driver.fail(describe(kernel), "cuModuleGetFunction", error);
  // A driver that loads lazily would otherwise do so at the first launch, where
  // a capture forbids it.
  if (driver.funcLoad)
    if (CUresult error = driver.funcLoad(function))
      return driver.fail(describe(kernel), "cuFuncLoad", error);
  LoadedFunction::add(kernel.state, contextId, function);
  return nullptr;
}

const char *kvfuse::runtime::getFunction(const Driver &driver,
                                         KVFuseKernel &kernel,
                                         uint64_t contextId,
                                         CUfunction &function) {
  function = LoadedFunction::find(kernel.state, contextId);
  if (function)
    return nullptr;
  return loadFunction(driver, kernel, contextId, function);
}
