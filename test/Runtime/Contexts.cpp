//===- Contexts.cpp - Devices, contexts and threads ---------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Contexts | FileCheck %s

#include "FakeCUDA.h"
#include "WriteFunction.h"
#include <atomic>
#include <thread>

using namespace testing;

static void testDevices() {
  Tensor here(kInt64, {4});
  Tensor there(kInt64, {4}, {kDLCUDA, 1});
  // A thread without a context gets the device's primary one for the call.
  // CHECK-LABEL: no context is current
  // CHECK-NEXT: cuDevicePrimaryCtxRetain: device 1
  // CHECK-NEXT: cuCtxPushCurrent: context 1 of device 1
  // CHECK-NEXT: cuModuleLoadDataEx
  // CHECK-NEXT: cuModuleGetFunction: 'write0' in context 1
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 1
  // CHECK-NEXT: cuCtxPopCurrent: context 1
  // CHECK-NEXT: ended
  call("no context is current", kvfuse_call, kWrite, {there});
  // CHECK-LABEL: the same again
  // CHECK-NEXT: cuCtxPushCurrent: context 1 of device 1
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 1
  // CHECK-NEXT: cuCtxPopCurrent: context 1
  // CHECK-NEXT: ended
  call("the same again", kvfuse_call, kWrite, {there});
  // CHECK-LABEL: the current device
  // CHECK-NEXT: cuModuleLoadDataEx
  // CHECK-NEXT: cuModuleGetFunction: 'write0' in context 2
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 2
  // CHECK-NEXT: ended
  fakeSetDevice(0);
  call("the current device", kvfuse_call, kWrite, {here});
  // CHECK-LABEL: another than the current device
  // CHECK-NEXT: cuCtxPushCurrent: context 1 of device 1
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 1
  // CHECK-NEXT: cuCtxPopCurrent: context 1
  // CHECK-NEXT: ended
  call("another than the current device", kvfuse_call, kWrite, {there});
  // CHECK-LABEL: where the last call was
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 2
  // CHECK-NEXT: ended
  // CHECK-NEXT: asked once for the context, never for a device
  int numIds = fakeCount("cuCtxGetId");
  int numDevices = fakeCount("cuDeviceGet") + fakeCount("cuCtxGetDevice");
  call("where the last call was", kvfuse_call, kWrite, {here});
  if (fakeCount("cuCtxGetId") == numIds + 1 &&
      fakeCount("cuDeviceGet") + fakeCount("cuCtxGetDevice") == numDevices)
    std::printf("  asked once for the context, never for a device\n");
}

static void testReset() {
  Tensor here(kInt64, {4});
  Tensor there(kInt64, {4}, {kDLCUDA, 1});
  // The tensors are gone with their context.
  // CHECK-LABEL: after a reset of the current device
  // CHECK-NEXT: RuntimeError: no CUDA context can be used in this thread: cuCtxGetId returned CUDA_ERROR_CONTEXT_IS_DESTROYED; the device's context, or the stream, was destroyed
  fakeResetDevice(0);
  call("after a reset of the current device", kvfuse_call, kWrite, {here});
  // CHECK-LABEL: with tensors made since
  // CHECK-NEXT: cuModuleLoadDataEx
  // CHECK-NEXT: cuModuleGetFunction: 'write0' in context 3
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 3
  // CHECK-NEXT: ended
  fakeSetDevice(0);
  call("with tensors made since", kvfuse_call, kWrite, {here});
  // CHECK-LABEL: after a reset of another device
  // CHECK-NEXT: cuDevicePrimaryCtxRetain: device 1
  // CHECK-NEXT: cuCtxPushCurrent: context 4 of device 1
  // CHECK-NEXT: cuModuleLoadDataEx
  // CHECK-NEXT: cuModuleGetFunction: 'write0' in context 4
  // CHECK-NEXT: cuLaunchKernelEx: 'write0' in context 4
  // CHECK-NEXT: cuCtxPopCurrent: context 4
  // CHECK-NEXT: ended
  fakeResetDevice(1);
  call("after a reset of another device", kvfuse_call, kWrite, {there});
}

static void testLoad() {
  // CHECK-LABEL: load
  // CHECK-NEXT: cuCtxPushCurrent: context 4 of device 1
  // CHECK-NEXT: cuModuleGetFunction: 'other0' in context 4
  // CHECK-NEXT: cuCtxPopCurrent: context 4
  // CHECK-NEXT: ended
  static KVFuseKernel other = {&module, "other0", 0, nullptr};
  static KVFuseKernel *const kernels[] = {&kernel, &other};
  KVFuseFunction function = kWrite;
  function.kernels = kernels;
  function.num_kernels = 2;
  call("load", kvfuse_load, function, {integer(1)});
  // CHECK-LABEL: load once more
  // CHECK-NEXT: cuCtxPushCurrent
  // CHECK-NEXT: cuCtxPopCurrent
  // CHECK-NEXT: ended
  call("load once more", kvfuse_load, function, {integer(1)});
}

/// Eight threads call a function that is not loaded yet, on both devices.
static void testThreads() {
  static KVFuseModule fresh = {"fresh", 6, nullptr};
  static KVFuseKernel kernel = {&fresh, "fresh0", 0, nullptr};
  static KVFuseKernel *const kernels[] = {&kernel};
  KVFuseFunction function = kWrite;
  function.kernels = kernels;
  function.call = [](void **) {
    return kvfuse_launch(&kernel, 1, 1, 1, 32, 1, 1, nullptr, 0);
  };
  std::printf("threads\n");
  fakePrint(false);
  int numLoads = fakeCount("cuModuleLoadDataEx");
  int numLaunches = fakeCount("cuLaunchKernelEx");
  std::atomic<int> numErrors = 0;
  std::atomic<int> numWaiting = 8;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      --numWaiting;
      while (numWaiting > 0)
        std::this_thread::yield();
      for (int k = 0; k < 100; ++k) {
        Tensor slots(kInt64, {4}, {kDLCUDA, (i + k) % 2});
        TVMFFIAny argument = slots;
        TVMFFIAny result = {};
        numErrors += kvfuse_call(&function, &argument, 1, &result) != 0;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  std::printf("  %d modules loaded, %d launches, %d errors\n",
              fakeCount("cuModuleLoadDataEx") - numLoads,
              fakeCount("cuLaunchKernelEx") - numLaunches, numErrors.load());
  std::printf("  pushed as often as popped: %s\n",
              fakeCount("cuCtxPushCurrent") == fakeCount("cuCtxPopCurrent")
                  ? "yes"
                  : "no");
}

int main() {
  testDevices();
  testReset();
  testLoad();
  // CHECK-LABEL: threads
  // CHECK-NEXT: 2 modules loaded, 800 launches, 0 errors
  // CHECK-NEXT: pushed as often as popped: yes
  testThreads();
}
