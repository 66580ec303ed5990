//===- Errors.cpp - What is said when CUDA fails ------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Errors | FileCheck %s

#include "FakeCUDA.h"
#include "WriteFunction.h"
#include <sys/wait.h>
#include <unistd.h>

using namespace testing;

/// Calls the function, and loads it, while `function` of the driver fails.
static void failing(const char *function, int error) {
  Tensor slots(kInt64, {4});
  fakeFail(function, error);
  call(function, kvfuse_call, kWrite, {slots});
  fakeFail(function, 0);
}

static void testContexts() {
  // CHECK-LABEL: no such device
  // CHECK-NEXT: RuntimeError: cuda:2 cannot be used: cuDeviceGet returned CUDA_ERROR_INVALID_DEVICE
  Tensor nowhere(kInt64, {4}, {kDLCUDA, 2});
  call("no such device", kvfuse_call, kWrite, {nowhere});
  // CHECK: load there
  // CHECK-NEXT: RuntimeError: cuda:2 cannot be used: cuDeviceGet returned CUDA_ERROR_INVALID_DEVICE
  // CHECK-NEXT: load far
  // CHECK-NEXT: ValueError: no device has the number 4294967296
  // CHECK-NEXT: load what
  // CHECK-NEXT: TypeError: write_load takes the number of a device
  // CHECK-NEXT: load without
  // CHECK-NEXT: TypeError: write_load takes the number of a device
  call("load there", kvfuse_load, kWrite, {integer(2)});
  call("load far", kvfuse_load, kWrite, {integer(INT64_C(1) << 32)});
  call("load what", kvfuse_load, kWrite, {number(1)});
  call("load without", kvfuse_load, kWrite, {});
  // CHECK: outside of a call
  // CHECK-NEXT: no CUDA context can be used in this thread: cuCtxGetId returned CUDA_ERROR_INVALID_CONTEXT
  std::printf("outside of a call\n  %s\n", launchOne(nullptr));
  // CHECK: cuDevicePrimaryCtxRetain
  // CHECK: RuntimeError: cuda:0 cannot be used: cuDevicePrimaryCtxRetain returned CUDA_ERROR_OUT_OF_MEMORY
  failing("cuDevicePrimaryCtxRetain", 2);
  // CHECK: cuCtxPushCurrent
  // CHECK: RuntimeError: cuda:0 cannot be used: cuCtxPushCurrent returned CUDA_ERROR_CONTEXT_IS_DESTROYED; the device's context
  failing("cuCtxPushCurrent", 709);
  fakeSetDevice(0);
  // CHECK: cuCtxGetDevice
  // CHECK-NEXT: RuntimeError: cuda:0 cannot be used: cuCtxGetDevice returned CUDA_ERROR_NOT_INITIALIZED; CUDA was shut down, or this process was forked after CUDA was initialized: start it by 'spawn'
  failing("cuCtxGetDevice", 3);
  // CHECK: cuCtxGetId
  // CHECK-NEXT: RuntimeError: no CUDA context can be used in this thread: cuCtxGetId returned CUDA_ERROR_CONTEXT_IS_DESTROYED; the device's context, or the stream, was destroyed or is of another device: make the tensors and the stream anew
  failing("cuCtxGetId", 709);
}

static void testLoads() {
  // CHECK: cuModuleLoadDataEx
  // CHECK: RuntimeError: kernel 'write0' cannot be loaded: cuModuleLoadDataEx returned CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; load the function before capture
  failing("cuModuleLoadDataEx", 900);
  // CHECK: cuModuleLoadDataEx
  // CHECK: RuntimeError: kernel 'write0' cannot be loaded (ptxas: line 7 is wrong): cuModuleLoadDataEx returned CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed); compile it for this device
  failing("cuModuleLoadDataEx", 218);
  // CHECK: cuModuleGetFunction
  // CHECK: RuntimeError: kernel 'write0' cannot be loaded: cuModuleGetFunction returned CUDA_ERROR_NOT_FOUND{{$}}
  failing("cuModuleGetFunction", 500);
  // CHECK: cuFuncLoad
  // CHECK: RuntimeError: kernel 'write0' cannot be loaded: cuFuncLoad returned CUDA_ERROR_OUT_OF_MEMORY; the device has no memory left
  failing("cuFuncLoad", 2);
}

static void testLaunches() {
  // CHECK: cuLaunchKernelEx
  // CHECK: RuntimeError: kernel 'write0' cannot be launched: cuLaunchKernelEx returned CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES{{$}}
  failing("cuLaunchKernelEx", 701);
  // CHECK: cuLaunchKernelEx
  // CHECK: CUDA_ERROR_ASSERT; a check in an earlier kernel failed, such as an index out of bounds; the context is lost
  failing("cuLaunchKernelEx", 710);
  // CHECK: cuLaunchKernelEx
  // CHECK: CUDA_ERROR_ILLEGAL_ADDRESS; an earlier kernel failed, of kvfuse or not; the context is lost
  failing("cuLaunchKernelEx", 700);
  // What failed is done anew.
  // CHECK: after all
  // CHECK-NEXT: cuLaunchKernelEx: 'write0'
  // CHECK-NEXT: ended
  Tensor slots(kInt64, {4});
  call("after all", kvfuse_call, kWrite, {slots});
}

static void testFork() {
  // CHECK-LABEL: in a child
  // CHECK-NEXT: RuntimeError: CUDA cannot be used in a process that was forked after CUDA was initialized: start it by 'spawn'
  // CHECK-NEXT: status 0
  // CHECK-NEXT: in the parent
  // CHECK-NEXT: cuLaunchKernelEx
  // CHECK-NEXT: ended
  Tensor slots(kInt64, {4});
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    call("in a child", kvfuse_call, kWrite, {slots});
    std::fflush(stdout);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::printf("  status %d\n", status);
  call("in the parent", kvfuse_call, kWrite, {slots});
}

int main() {
  testContexts();
  testLoads();
  testLaunches();
  testFork();
}
