//===- launches.cpp - What host code of a GPU asks the runtime for ------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test_host_abi_gpu.py links it with the object of its module. It is the
// runtime itself, and prints its calls. Usage: launches TOKENS ALIGNMENT
// FAILING_CALL
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Runtime/Runtime.h"
#include "write.h"
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((weak)) int64_t kvfuse_branches[2];

static int64_t numTokens, alignment, failingCall, numCalls;

/// The message of the call that the test wants to fail.
static const char *fail() {
  return ++numCalls == failingCall ? "refused" : nullptr;
}

static void *at(int64_t megabytes) {
  return reinterpret_cast<void *>((megabytes << 20) + alignment);
}

static KVFuseMemRef3 describe(int64_t megabytes, int64_t rows) {
  return {at(megabytes), at(megabytes), 0, {rows, 2, 16}, {32, 16, 1}};
}

static void printArguments(const KVFuseFunction &function) {
  for (int32_t i = 0; i < function.num_arguments; ++i) {
    const KVFuseArgument &argument = function.arguments[i];
    std::printf("%s: %d %d %d, rank %d, %s", argument.name, argument.type.code,
                argument.type.bits, argument.type.lanes, argument.rank,
                argument.written ? "written" : "read");
    for (int32_t dim = 0; dim < argument.rank; ++dim)
      std::printf(" %lld", static_cast<long long>(argument.sizes[dim]));
    std::printf("\n");
  }
}

static void printKernels(const KVFuseFunction &function) {
  for (int32_t i = 0; i < function.num_kernels; ++i) {
    const KVFuseKernel &kernel = *function.kernels[i];
    const auto *image = static_cast<const char *>(kernel.module->image);
    std::printf("kernel %s, flags %lld, %s\n", kernel.name,
                static_cast<long long>(kernel.flags),
                image[kernel.module->size - 1] == '\0' ? "text" : "binary");
  }
}

int32_t kvfuse_load(const KVFuseFunction *function, const TVMFFIAny *, int32_t,
                    TVMFFIAny *) {
  printKernels(*function);
  return 0;
}

int32_t kvfuse_call(const KVFuseFunction *function, const TVMFFIAny *, int32_t,
                    TVMFFIAny *) {
  std::printf("function %s on device %d\n", function->name,
              function->device_type);
  printArguments(*function);
  KVFuseMemRef3 kCache = describe(16, 6), vCache = describe(32, 6),
                k = describe(48, numTokens), v = describe(64, numTokens);
  KVFuseMemRef1 slots = {at(80), at(80), 0, {numTokens}, {1}};
  float scale = 2;
  void *arguments[] = {&kCache, &vCache, &k, &v, &slots, &scale};
  const char *message = function->call(arguments);
  std::printf("returns %s\n", message ? message : "nothing");
  return 0;
}

const char *kvfuse_launch(KVFuseKernel *kernel, int64_t gridX, int64_t gridY,
                          int64_t gridZ, int64_t blockX, int64_t blockY,
                          int64_t blockZ, const int64_t *parameters,
                          int64_t numParameters) {
  std::printf(
      "launch %s, grid %lld %lld %lld, block %lld %lld %lld:", kernel->name,
      static_cast<long long>(gridX), static_cast<long long>(gridY),
      static_cast<long long>(gridZ), static_cast<long long>(blockX),
      static_cast<long long>(blockY), static_cast<long long>(blockZ));
  for (int64_t i = 0; i < numParameters; ++i)
    std::printf(" %lld", static_cast<long long>(parameters[i]));
  std::printf("\n");
  return fail();
}

const char *kvfuse_allocate(int64_t bytes, void **out) {
  static int64_t megabytes = 100;
  *out = reinterpret_cast<void *>(megabytes++ << 20);
  std::printf("allocate %lld\n", static_cast<long long>(bytes));
  return fail();
}

void kvfuse_release(void *data) {
  std::printf("release %lld\n",
              static_cast<long long>(reinterpret_cast<intptr_t>(data) >> 20));
}

int main(int, char **argv) {
  numTokens = std::atoi(argv[1]);
  alignment = std::atoi(argv[2]);
  failingCall = std::atoi(argv[3]);
  TVMFFIAny result = {};
  __tvm_ffi_main_load(nullptr, nullptr, 0, &result);
  __tvm_ffi_main(nullptr, nullptr, 0, &result);
  if (kvfuse_branches)
    std::printf("branches %lld %lld\n",
                static_cast<long long>(kvfuse_branches[0]),
                static_cast<long long>(kvfuse_branches[1]));
}
