//===- CompiledWrite.cpp - What a compiled function asks the driver for -===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: kvfuse-compile %S/../Exports/hnd_layer_e4m3fn.raw.mlir --mutates=auto --target=sm_90 --emit=shared -o %t.so
// RUN: %runtime_tests/CompiledWrite %t.so | FileCheck %s

#include "FakeCUDA.h"
#include "Testing.h"
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

using namespace testing;

static constexpr int64_t kNumPages = 8;
static constexpr int64_t kNumTokens = 5;
/// From here on a step of this layer, which has a block for a token, is long.
static constexpr int64_t kManyTokens = 2048;
static constexpr DLDataType kInt32 = {kDLInt, 32, 1};

/// An address of a device that does not exist: host code looks at addresses,
/// not at what is there.
static void *at(uintptr_t megabytes) {
  return reinterpret_cast<void *>(megabytes << 20);
}

namespace {
/// The arguments of a layer's write: caches, values and slots.
struct Layer {
  explicit Layer(int64_t numTokens, int64_t numSlots, uintptr_t vCacheAt = 32)
      : k(kBF16, {numTokens, 4, 128}, kDevice, at(64)),
        v(kBF16, {numTokens, 4, 128}, kDevice, at(65)),
        indexK(kBF16, {numTokens, 1, 128}, kDevice, at(66)),
        slots(kInt32, {numSlots}, kDevice, at(67)),
        vCache(kF8, {kNumPages, 4, 32, 128}, kDevice, at(vCacheAt)) {}

  static constexpr DLDevice kDevice = {kDLCUDA, 0};
  Tensor k, v, indexK, slots, vCache;
  Tensor kCache{kF8, {kNumPages, 4, 32, 128}, kDevice, at(16)};
  Tensor indexCache{kBF16, {kNumPages, 1, 32, 128}, kDevice, at(48)};
};
} // namespace

static void call(const char *what, const tvm::ffi::Function &function,
                 Layer &layer) {
  std::printf("%s\n", what);
  try {
    function(&layer.kCache.tensor, &layer.vCache.tensor,
             &layer.indexCache.tensor, &layer.k.tensor, &layer.v.tensor,
             &layer.indexK.tensor, &layer.slots.tensor);
    std::printf("  ended\n");
  } catch (const tvm::ffi::Error &error) {
    std::printf("  %s: %s\n", error.kind().c_str(), error.message().c_str());
  }
}

int main(int, char **argv) {
  tvm::ffi::Module module = tvm::ffi::Module::LoadFromFile(argv[1]);
  tvm::ffi::Function write = module->GetFunction("main").value();
  fakeSetDevice(0);

  // CHECK-LABEL: no tokens
  // CHECK-NEXT: ended
  Layer empty(0, 0);
  call("no tokens", write, empty);

  // Every version of the kernel is loaded, whichever a call will take.
  // CHECK-LABEL: load
  // CHECK-NEXT: cuModuleLoadDataEx: '//'
  // CHECK-NEXT: cuModuleGetFunction: 'kv_write' in context 1
  // CHECK-NEXT: cuModuleGetFunction: 'kv_write_0' in context 1
  // CHECK-NEXT: cuModuleGetFunction: 'kv_write_1' in context 1
  // CHECK-NEXT: cuModuleGetFunction: 'kv_write_2' in context 1
  // CHECK-NEXT: cuModuleGetFunction: 'kv_write_3' in context 1
  // CHECK-NEXT: ended
  std::printf("load\n");
  module->GetFunction("main_load").value()(0);
  std::printf("  ended\n");

  // CHECK-LABEL: one launch
  // CHECK-NEXT: cuLaunchKernelEx: 'kv_write' in context 1, grid 5 1 1, block 160 1 1, {{.*}} attributes dependent,
  // CHECK-NEXT: ended
  Layer layer(kNumTokens, kNumTokens);
  call("one launch", write, layer);

  // Threads have four tokens each.
  // CHECK-LABEL: long step
  // CHECK-NEXT: cuLaunchKernelEx: 'kv_write_0' in context 1, grid 512 1 1, block 160 1 1,
  // CHECK-NEXT: ended
  Layer longStep(kManyTokens, kManyTokens);
  call("long step", write, longStep);

  // Values that are not contiguous take another version.
  // CHECK-LABEL: strided values
  // CHECK-NEXT: cuLaunchKernelEx: 'kv_write_3' in context 1, grid 5
  // CHECK-NEXT: ended
  Layer strided(kNumTokens, kNumTokens);
  strided.k.strides = {1024, 256, 2};
  call("strided values", write, strided);

  // CHECK-LABEL: fewer slots than rows
  // CHECK-NEXT: ValueError: SX10
  Layer shorter(kNumTokens, kNumTokens - 1);
  call("fewer slots than rows", write, shorter);

  // CHECK-LABEL: one cache twice
  // CHECK-NEXT: ValueError: SM8
  Layer overlapping(kNumTokens, kNumTokens, /*vCacheAt=*/16);
  call("one cache twice", write, overlapping);
}
