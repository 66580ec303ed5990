//===- Memory.cpp - Temporaries -----------------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Memory | FileCheck %s

#include "FakeCUDA.h"
#include "WriteFunction.h"
#include <cstdlib>
#include <tvm/ffi/extra/c_env_api.h>

using namespace testing;

/// A caller's allocator, which gives nothing above 1000 bytes.
static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out,
                    void *errorContext,
                    void (*setError)(void *context, const char *kind,
                                     const char *message)) {
  int64_t size = prototype->shape[0];
  std::printf("  allocate %ld of %d bits on %d:%d\n", size,
              prototype->dtype.bits, prototype->device.device_type,
              prototype->device.device_id);
  if (size > 1000) {
    setError(errorContext, "RuntimeError", "nothing is left");
    return -1;
  }
  auto *managed = new DLManagedTensorVersioned();
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->dl_tensor = *prototype;
  managed->dl_tensor.data = std::aligned_alloc(256, 1024);
  managed->dl_tensor.shape = new int64_t[1]{size};
  managed->dl_tensor.strides = new int64_t[1]{1};
  managed->deleter = [](DLManagedTensorVersioned *self) {
    std::printf("  free %ld\n", self->dl_tensor.shape[0]);
    std::free(self->dl_tensor.data);
    delete[] self->dl_tensor.shape;
    delete[] self->dl_tensor.strides;
    delete self;
  };
  *out = managed;
  return 0;
}

static const char *releaseAll(void **) {
  void *first = nullptr;
  void *second = nullptr;
  void *none = nullptr;
  kvfuse_allocate(100, &first);
  kvfuse_allocate(200, &second);
  kvfuse_allocate(0, &none);
  std::printf("  %s\n", first && second && first != second && !none
                            ? "two buffers"
                            : "something else");
  kvfuse_release(first);
  kvfuse_release(none);
  kvfuse_release(second);
  return nullptr;
}

/// Fails between allocation and release, as a failed check of host code does.
static const char *releaseNothing(void **) {
  void *first = nullptr;
  void *second = nullptr;
  kvfuse_allocate(100, &first);
  kvfuse_allocate(200, &second);
  return "SX10: a mismatch";
}

static const char *askTooMuch(void **) {
  void *data = nullptr;
  kvfuse_allocate(300, &data);
  return kvfuse_allocate(5000, &data);
}

static void call(const char *what, const char *(*body)(void **)) {
  Tensor slots(kInt64, {4}, {kDLCUDA, 1});
  testing::call(what, kvfuse_call, {"f", body, &kSlots, 1, kDLCUDA, nullptr, 0},
                {slots});
}

int main() {
  fakeSetDevice(1);
  // CHECK-LABEL: without an allocator
  // CHECK-NEXT: RuntimeError: the caller's allocator gave no temporary of 300 bytes: {{.*}}llocator
  call("without an allocator", [](void **) {
    void *data = nullptr;
    return kvfuse_allocate(300, &data);
  });
  TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, nullptr);
  // CHECK-LABEL: released
  // CHECK-NEXT: allocate 100 of 8 bits on 2:1
  // CHECK-NEXT: allocate 200 of 8 bits on 2:1
  // CHECK-NEXT: two buffers
  // CHECK-NEXT: free 100
  // CHECK-NEXT: free 200
  // CHECK-NEXT: ended
  call("released", releaseAll);
  // CHECK-LABEL: left
  // CHECK-NEXT: allocate 100
  // CHECK-NEXT: allocate 200
  // CHECK-NEXT: free 200
  // CHECK-NEXT: free 100
  // CHECK-NEXT: ValueError: SX10: a mismatch
  call("left", releaseNothing);
  // CHECK-LABEL: too much
  // CHECK-NEXT: allocate 300
  // CHECK-NEXT: allocate 5000
  // CHECK-NEXT: free 300
  // CHECK-NEXT: RuntimeError: the caller's allocator gave no temporary of 5000 bytes: nothing is left
  call("too much", askTooMuch);
  // CHECK-LABEL: outside of a call
  // CHECK-NEXT: temporaries come from the caller's allocator, so the function has to be called through TVM-FFI
  void *data = nullptr;
  std::printf("outside of a call\n  %s\n", kvfuse_allocate(8, &data));
}
