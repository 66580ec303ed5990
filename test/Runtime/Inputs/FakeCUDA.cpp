//===- FakeCUDA.cpp - A CUDA driver that writes down its calls ------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"

#include "CUDA.h"
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
/// The primary context of a device. A reset device gets the same handle again,
/// with another id, as a real one does.
struct CUctx_st {
  int device;
  unsigned long long id;
  bool isActive;
};
struct CUmod_st {
  unsigned long long contextId;
};
struct CUfunc_st {
  unsigned long long contextId;
  std::string name;
};

namespace {
struct State {
  std::map<std::string, int> errors;
  std::map<std::string, int> counts;
  CUctx_st contexts[2] = {{0, 0, false}, {1, 0, false}};
  unsigned long long numContexts = 0;
  /// Handles stay valid, so that a use after a context's end is seen.
  std::deque<CUmod_st> modules;
  std::deque<CUfunc_st> functions;
  bool isCapturing = false;
  bool isPrinted = true;
};
} // namespace

static std::mutex mutex;
static State state;
static thread_local std::vector<CUcontext> stack;
/// Threads begin with the strictest.
static thread_local CUstreamCaptureMode captureMode = {};

/// Counts a call and prints it. Returns the error that the test wants of it.
__attribute__((format(printf, 2, 3))) static CUresult
record(const char *function, const char *format, ...) {
  ++state.counts[function];
  if (state.isPrinted && *format) {
    va_list arguments;
    va_start(arguments, format);
    std::printf("  %s: ", function);
    std::vprintf(format, arguments);
    std::printf("\n");
    va_end(arguments);
  }
  return CUresult(state.errors[function]);
}

static CUcontext getCurrent() { return stack.empty() ? nullptr : stack.back(); }

/// CUDA_SUCCESS if a context is current that was not destroyed.
static CUresult checkCurrent() {
  if (!getCurrent())
    return CUDA_ERROR_INVALID_CONTEXT;
  return getCurrent()->isActive ? CUDA_SUCCESS
                                : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static CUcontext retain(CUdevice device) {
  CUctx_st &context = state.contexts[device];
  if (!context.isActive)
    context = {device, ++state.numContexts, true};
  return &context;
}

//===----------------------------------------------------------------------===//
// The test's side
//===----------------------------------------------------------------------===//

void fakeFail(const char *function, int error) {
  std::lock_guard<std::mutex> lock(mutex);
  state.errors[function] = error;
}

int fakeCount(const char *function) {
  std::lock_guard<std::mutex> lock(mutex);
  return state.counts[function];
}

void fakeResetDevice(int device) {
  std::lock_guard<std::mutex> lock(mutex);
  state.contexts[device].isActive = false;
}

void fakeSetDevice(int device) {
  std::lock_guard<std::mutex> lock(mutex);
  stack.assign(1, retain(device));
}

void fakeCapture(bool isCapturing) {
  std::lock_guard<std::mutex> lock(mutex);
  state.isCapturing = isCapturing;
}

int fakeCaptureMode() { return captureMode; }

void fakePrint(bool isPrinted) {
  std::lock_guard<std::mutex> lock(mutex);
  state.isPrinted = isPrinted;
}

//===----------------------------------------------------------------------===//
// The driver's side
//===----------------------------------------------------------------------===//

FAKE_CUDA_API CUresult cuInit(unsigned) {
  std::lock_guard<std::mutex> lock(mutex);
  const char *error = std::getenv("FAKE_CUDA_INIT_ERROR");
  return error ? CUresult(std::atoi(error)) : record("cuInit", "");
}

FAKE_CUDA_API CUresult cuGetErrorName(CUresult error, const char **name) {
  static const std::map<int, const char *> names = {
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {3, "CUDA_ERROR_NOT_INITIALIZED"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
      {710, "CUDA_ERROR_ASSERT"},
      {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}};
  auto found = names.find(error);
  *name = found == names.end() ? nullptr : found->second;
  return *name ? CUDA_SUCCESS : CUresult(1);
}

FAKE_CUDA_API CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_INVALID_PTX ? "a PTX JIT compilation failed"
                                          : nullptr;
  return *text ? CUDA_SUCCESS : CUresult(1);
}

FAKE_CUDA_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  std::lock_guard<std::mutex> lock(mutex);
  *device = ordinal;
  CUresult error = record("cuDeviceGet", "");
  return ordinal < 0 || ordinal > 1 ? CUDA_ERROR_INVALID_DEVICE : error;
}

FAKE_CUDA_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context,
                                                CUdevice device) {
  std::lock_guard<std::mutex> lock(mutex);
  *context = retain(device);
  return record("cuDevicePrimaryCtxRetain", "device %d", device);
}

FAKE_CUDA_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *,
                                                  int *active) {
  std::lock_guard<std::mutex> lock(mutex);
  *active = state.contexts[device].isActive;
  return record("cuDevicePrimaryCtxGetState", "");
}

FAKE_CUDA_API CUresult cuCtxGetDevice(CUdevice *device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (CUresult error = record("cuCtxGetDevice", ""))
    return error;
  // Of a destroyed context, too.
  if (!getCurrent())
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = getCurrent()->device;
  return CUDA_SUCCESS;
}

#ifndef FAKE_CUDA_OLD
FAKE_CUDA_API CUresult cuCtxGetId(CUcontext, unsigned long long *id) {
  std::lock_guard<std::mutex> lock(mutex);
  if (CUresult error = record("cuCtxGetId", ""))
    return error;
  if (CUresult error = checkCurrent())
    return error;
  *id = getCurrent()->id;
  return CUDA_SUCCESS;
}
#endif

FAKE_CUDA_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  std::lock_guard<std::mutex> lock(mutex);
  stack.push_back(context);
  return record("cuCtxPushCurrent", "context %llu of device %d", context->id,
                context->device);
}

FAKE_CUDA_API CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  std::lock_guard<std::mutex> lock(mutex);
  *context = getCurrent();
  stack.pop_back();
  return record("cuCtxPopCurrent", "context %llu", (*context)->id);
}

FAKE_CUDA_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                          unsigned numOptions,
                                          CUjit_option *options,
                                          void **values) {
  // As long as threads need to come here, if nothing keeps them away.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::lock_guard<std::mutex> lock(mutex);
  // The first line of it.
  auto *text = static_cast<const char *>(image);
  if (CUresult error = record("cuModuleLoadDataEx", "'%.*s'",
                              int(std::strcspn(text, "\n")), text)) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER &&
          error == CUDA_ERROR_INVALID_PTX)
        std::strcpy(static_cast<char *>(values[i]), "ptxas: line 7 is wrong");
    return error;
  }
  if (state.isCapturing && captureMode != CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (CUresult error = checkCurrent())
    return error;
  state.modules.push_back({getCurrent()->id});
  *module = &state.modules.back();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuModuleGetFunction(CUfunction *function,
                                           CUmodule module, const char *name) {
  std::lock_guard<std::mutex> lock(mutex);
  state.functions.push_back({module->contextId, name});
  *function = &state.functions.back();
  return record("cuModuleGetFunction", "'%s' in context %llu", name,
                module->contextId);
}

FAKE_CUDA_API CUresult cuFuncLoad(CUfunction) {
  std::lock_guard<std::mutex> lock(mutex);
  return record("cuFuncLoad", "");
}

/// A kernel's name ends with the number of its parameters, if that is below 10.
static unsigned getNumParameters(const CUfunc_st &function) {
  unsigned number = function.name.back() - '0';
  return number < 10 ? number : 0;
}

#ifndef FAKE_CUDA_OLD
/// Parameters of 8 bytes, or of 4 where the name begins so.
FAKE_CUDA_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index,
                                          size_t *offset, size_t *bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  *bytes = function->name.rfind("narrow", 0) == 0 ? 4 : 8;
  *offset = index * *bytes;
  CUresult error = record("cuFuncGetParamInfo", "");
  return index < getNumParameters(*function) ? error : CUresult(1);
}
#endif

FAKE_CUDA_API
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  std::lock_guard<std::mutex> lock(mutex);
  std::swap(captureMode, *mode);
  return record("cuThreadExchangeStreamCaptureMode", "");
}

static std::string describeParameters(const CUfunc_st &function,
                                      void **parameters, void **extra) {
  std::string text = "parameters";
  int64_t *buffer = nullptr;
  if (extra && extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER &&
      extra[2] == CU_LAUNCH_PARAM_BUFFER_SIZE &&
      extra[4] == CU_LAUNCH_PARAM_END) {
    buffer = static_cast<int64_t *>(extra[1]);
    text = std::to_string(*static_cast<size_t *>(extra[3])) + " bytes";
  }
  for (unsigned i = 0; i < getNumParameters(function); ++i)
    text +=
        " " + std::to_string(buffer ? buffer[i]
                                    : *static_cast<int64_t *>(parameters[i]));
  return text;
}

static bool isDependent(const CUlaunchConfig &config) {
  return config.numAttrs == 1 &&
         config.attrs[0].id ==
             CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
         config.attrs[0].value.programmaticStreamSerializationAllowed == 1;
}

FAKE_CUDA_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config,
                                        CUfunction function, void **parameters,
                                        void **extra) {
  std::lock_guard<std::mutex> lock(mutex);
  if (CUresult error = checkCurrent())
    return error;
  if (function->contextId != getCurrent()->id)
    return CUDA_ERROR_INVALID_HANDLE;
  return record("cuLaunchKernelEx",
                "'%s' in context %llu, grid %u %u %u, block %u %u %u, shared "
                "%u, stream %llu, attributes %s, %s",
                function->name.c_str(), function->contextId, config->gridDimX,
                config->gridDimY, config->gridDimZ, config->blockDimX,
                config->blockDimY, config->blockDimZ, config->sharedMemBytes,
                reinterpret_cast<unsigned long long>(config->hStream),
                isDependent(*config)    ? "dependent"
                : config->numAttrs == 0 ? "none"
                                        : "others",
                describeParameters(*function, parameters, extra).c_str());
}
// NOLINTEND(readability-identifier-naming)
