//===- Launch.cpp - What the driver is asked to launch ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Launch | FileCheck %s

#include "FakeCUDA.h"
#include "Testing.h"
#include <tvm/ffi/extra/c_env_api.h>

using namespace testing;

static KVFuseModule module = {"code", 5, nullptr};
static KVFuseKernel plain = {&module, "plain2", 0, nullptr};
static KVFuseKernel dependent = {&module, "dependent1",
                                 KVFUSE_KERNEL_DEPENDENT_LAUNCH, nullptr};
static int64_t numTokens;

/// The host code of a function: two kernels, on a grid of its tokens.
static const char *launchBoth(void **) {
  int64_t parameters[] = {7, -9};
  if (const char *message =
          kvfuse_launch(&plain, numTokens, 2, 3, 128, 4, 1, parameters, 2))
    return message;
  return kvfuse_launch(&dependent, numTokens, 1, 1, 32, 1, 1, parameters, 1);
}

static const int64_t kSizes[] = {-1};
static const KVFuseArgument kArguments[] = {
    {"slots", kInt64, 1, /*written=*/0, kSizes}};
static KVFuseKernel *const kKernels[] = {&plain, &dependent};
static const KVFuseFunction kFunction = {"write", launchBoth, kArguments, 1,
                                         kDLCUDA, kKernels,   2};

/// One parameter more than a call keeps on the stack.
static const char *launchMany() {
  static KVFuseKernel many = {&module, "many9", 0, nullptr};
  std::vector<int64_t> parameters(129);
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = int64_t(i);
  return kvfuse_launch(&many, 1, 1, 1, 1, 1, 1, parameters.data(),
                       int64_t(parameters.size()));
}

/// Parameters that are not 8 bytes apart in the kernel.
static const char *launchNarrow() {
  static KVFuseKernel narrow = {&module, "narrow2", 0, nullptr};
  int64_t parameters[] = {3, 4};
  return kvfuse_launch(&narrow, 1, 1, 1, 1, 1, 1, parameters, 2);
}

static const char *launchCaptured() {
  static KVFuseModule module = {"code", 5, nullptr};
  static KVFuseKernel kernel = {&module, "captured0", 0, nullptr};
  return kvfuse_launch(&kernel, 1, 1, 1, 1, 1, 1, nullptr, 0);
}

static void printMessage(const char *message) {
  std::printf("  %s\n", message ? message : "no message");
}

int main() {
  Tensor slots(kInt64, {4});
  fakeSetDevice(0);

  // CHECK-LABEL: empty
  // CHECK-NEXT: ended
  call("empty", kvfuse_call, kFunction, {slots});
  numTokens = 5;

  // CHECK-LABEL: first
  // CHECK-NEXT: cuModuleLoadDataEx: 'code'
  // CHECK-NEXT: cuModuleGetFunction: 'plain2' in context 1
  // CHECK-NEXT: cuLaunchKernelEx: 'plain2' in context 1, grid 5 2 3, block 128 4 1, shared 0, stream 0, attributes none, 16 bytes 7 -9
  // CHECK-NEXT: cuModuleGetFunction: 'dependent1' in context 1
  // CHECK-NEXT: cuLaunchKernelEx: 'dependent1' in context 1, grid 5 1 1, block 32 1 1, shared 0, stream 0, attributes dependent, 8 bytes 7
  // CHECK-NEXT: ended
  call("first", kvfuse_call, kFunction, {slots});

  // CHECK-LABEL: on the caller's stream
  // CHECK-NEXT: cuLaunchKernelEx: 'plain2' {{.*}} stream 4660,
  // CHECK-NEXT: cuLaunchKernelEx: 'dependent1' {{.*}} stream 4660,
  // CHECK-NEXT: ended
  TVMFFIStreamHandle original = nullptr;
  TVMFFIEnvSetStream(kDLCUDA, 0, reinterpret_cast<void *>(0x1234), &original);
  call("on the caller's stream", kvfuse_call, kFunction, {slots});

  // A capture allows no load, but the thread may ask for it.
  // CHECK-LABEL: first call in a capture
  // CHECK-NEXT: cuModuleLoadDataEx: 'code'
  // CHECK-NEXT: cuModuleGetFunction: 'captured0' in context 1
  // CHECK-NEXT: cuLaunchKernelEx: 'captured0'
  // CHECK-NEXT: no message
  // CHECK-NEXT: capture mode 0
  std::printf("first call in a capture\n");
  fakeCapture(true);
  printMessage(launchCaptured());
  fakeCapture(false);
  std::printf("  capture mode %d\n", fakeCaptureMode());

  // CHECK-LABEL: outside of a call
  // CHECK-NEXT: cuLaunchKernelEx: 'plain2' in context 1, {{.*}} stream 0,
  // CHECK-NEXT: cuLaunchKernelEx: 'dependent1' in context 1, {{.*}} stream 0,
  // CHECK-NEXT: no message
  std::printf("outside of a call\n");
  printMessage(launchBoth(nullptr));

  // CHECK-LABEL: many parameters
  // CHECK-NEXT: cuModuleGetFunction
  // CHECK-NEXT: cuLaunchKernelEx: 'many9' {{.*}} parameters 0 1 2 3 4 5 6 7 8
  // CHECK-NEXT: no message
  std::printf("many parameters\n");
  printMessage(launchMany());

  // CHECK-LABEL: narrow parameters
  // CHECK-NEXT: cuModuleGetFunction
  // CHECK-NEXT: cuLaunchKernelEx: 'narrow2' {{.*}} parameters 3 4
  // CHECK-NEXT: no message
  std::printf("narrow parameters\n");
  printMessage(launchNarrow());

  // CHECK-LABEL: sizes
  // CHECK-NEXT: kernel 'plain2' cannot be launched: its grid and block are 4294967297 2 3 128 4 1
  // CHECK-NEXT: kernel 'plain2' cannot be launched: its grid and block are -1 2 3 128 4 1
  std::printf("sizes\n");
  for (int64_t size : {(INT64_C(1) << 32) + 1, INT64_C(-1)}) {
    numTokens = size;
    printMessage(launchBoth(nullptr));
  }
}
