//===- Arguments.cpp - What a call says of wrong arguments --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Arguments | FileCheck %s

#include "Testing.h"

using namespace testing;

/// What the host code is given for argument 0, of rank 2.
static const char *printDescriptor(void **arguments) {
  struct Descriptor {
    char *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  };
  auto *cache = static_cast<Descriptor *>(arguments[0]);
  auto *slots = static_cast<int64_t *>(arguments[1]);
  char *base = static_cast<char *>(Tensor::buffer());
  std::printf("  data at %td, allocated at %td, offset %ld, sizes %ld %ld, "
              "strides %ld %ld, slots %ld, scale %g\n",
              cache->aligned - base, cache->allocated - base, cache->offset,
              cache->sizes[0], cache->sizes[1], cache->strides[0],
              cache->strides[1], slots[3], *static_cast<float *>(arguments[2]));
  return nullptr;
}

static const char *returnNull(void **) { return nullptr; }

static const int64_t kCacheSizes[] = {-1, 16};
static const int64_t kSlotsSizes[] = {-1};
static const KVFuseArgument kArguments[] = {
    {"k_cache", kBF16, 2, /*written=*/1, kCacheSizes},
    {"slots", kInt64, 1, /*written=*/0, kSlotsSizes},
    {nullptr, {kDLFloat, 32, 1}, -1, /*written=*/0, nullptr}};
static const KVFuseFunction kFunction = {
    "write", printDescriptor, kArguments, 3, kDLCPU, nullptr, 0};

static const KVFuseArgument kSignless[] = {
    {"bytes", {kDLInt, 8, 0}, 1, /*written=*/0, kSlotsSizes}};
static const KVFuseFunction kBytes = {"bytes", returnNull, kSignless, 1,
                                      kDLCPU,  nullptr,    0};

/// As `kFunction`, for a GPU. No call of it gets past the checks.
static const KVFuseFunction kGPUFunction = {
    "write", printDescriptor, kArguments, 3, kDLCUDA, nullptr, 0};

static constexpr DLDevice kCPU = {kDLCPU, 0};

static void testPacking() {
  Tensor cache(kBF16, {4, 16}, kCPU);
  Tensor slots(kInt64, {7}, kCPU);
  // CHECK-LABEL: contiguous
  // CHECK-NEXT: data at 0, allocated at 0, offset 0, sizes 4 16, strides 16 1, slots 7, scale 0.5
  // CHECK-NEXT: ended
  call("contiguous", kvfuse_call, kFunction, {cache, slots, number(0.5)});
  // CHECK-LABEL: strided, with a byte offset
  // CHECK-NEXT: data at 6, allocated at 6, offset 0, sizes 4 16, strides 1 -3, slots 7, scale 2
  // CHECK-NEXT: ended
  cache.tensor.byte_offset = 6;
  cache.strides = {1, -3};
  cache.tensor.strides = cache.strides.data();
  call("strided, with a byte offset", kvfuse_call, kFunction,
       {cache, slots, integer(2)});
  // CHECK-LABEL: without strides
  // CHECK-NEXT: strides 16 1, slots 7
  cache.tensor.strides = nullptr;
  call("without strides", kvfuse_call, kFunction, {cache, slots, integer(2)});
  // CHECK-LABEL: empty
  // CHECK-NEXT: sizes 0 16
  Tensor empty(kBF16, {0, 16}, kCPU, nullptr);
  call("empty", kvfuse_call, kFunction, {empty, slots, integer(2)});
}

/// More arguments, and words of them, than a call keeps on the stack.
static void testMany() {
  constexpr int kNumArguments = 65;
  static const int64_t sizes[] = {-1, -1, -1, -1};
  std::vector<KVFuseArgument> expected(
      kNumArguments, {"cache", kBF16, 4, /*written=*/0, sizes});
  KVFuseFunction function = kFunction;
  function.arguments = expected.data();
  function.num_arguments = kNumArguments;
  function.call = [](void **arguments) -> const char * {
    for (int i : {0, kNumArguments - 1}) {
      auto *words = static_cast<int64_t *>(arguments[i]);
      std::printf("  argument %d has sizes %ld to %ld\n", i, words[3],
                  words[6]);
    }
    return nullptr;
  };
  // CHECK-LABEL: many
  // CHECK-NEXT: argument 0 has sizes 1 to 4
  // CHECK-NEXT: argument 64 has sizes 5 to 8
  // CHECK-NEXT: ended
  Tensor first(kBF16, {1, 2, 3, 4}, kCPU);
  Tensor last(kBF16, {5, 6, 7, 8}, kCPU);
  std::vector<TVMFFIAny> arguments(kNumArguments, first);
  arguments.back() = last;
  call("many", kvfuse_call, function, arguments);
}

static void testKinds() {
  Tensor cache(kBF16, {4, 16}, kCPU);
  Tensor slots(kInt64, {7}, kCPU);
  // CHECK-LABEL: too few
  // CHECK-NEXT: TypeError: write takes 3 arguments, got 2
  call("too few", kvfuse_call, kFunction, {cache, slots});
  // CHECK-LABEL: too many
  // CHECK-NEXT: TypeError: write takes 3 arguments, got 4
  call("too many", kvfuse_call, kFunction, {cache, slots, slots, slots});
  // CHECK-LABEL: a number for a tensor
  // CHECK-NEXT: TypeError: argument 1 ('slots'): expects a tensor of int64, got int
  call("a number for a tensor", kvfuse_call, kFunction,
       {cache, integer(3), number(1)});
  // CHECK-LABEL: None for a tensor
  // CHECK-NEXT: TypeError: argument 0 ('k_cache'): expects a tensor of bfloat16, got None
  call("None for a tensor", kvfuse_call, kFunction,
       {TVMFFIAny{}, slots, number(1)});
  // CHECK-LABEL: a tensor for a number
  // CHECK-NEXT: TypeError: argument 2: expects a number of type float32, got a tensor
  call("a tensor for a number", kvfuse_call, kFunction, {cache, slots, slots});
}

static void testSignature() {
  Tensor cache(kBF16, {4, 16}, kCPU);
  Tensor slots(kInt64, {7}, kCPU);
  // CHECK-LABEL: element type
  // CHECK-NEXT: TypeError: argument 0 ('k_cache'): expects bfloat16, got float8_e4m3fn
  Tensor floats(kF8, {4, 16}, kCPU);
  call("element type", kvfuse_call, kFunction, {floats, slots, number(1)});
  // CHECK-LABEL: width of elements
  // CHECK-NEXT: TypeError: argument 1 ('slots'): expects int64, got int32
  Tensor narrow({kDLInt, 32, 1}, {7}, kCPU);
  call("width of elements", kvfuse_call, kFunction, {cache, narrow, number(1)});
  // CHECK-LABEL: vectors
  // CHECK-NEXT: TypeError: argument 1 ('slots'): expects int64, got int64x2
  Tensor vectors({kDLInt, 64, 2}, {7}, kCPU);
  call("vectors", kvfuse_call, kFunction, {cache, vectors, number(1)});
  // CHECK-LABEL: rank
  // CHECK-NEXT: ValueError: argument 0 ('k_cache'): expects 2 dimensions, got 3
  Tensor deep(kBF16, {4, 16, 1}, kCPU);
  call("rank", kvfuse_call, kFunction, {deep, slots, number(1)});
  // CHECK-LABEL: static size
  // CHECK-NEXT: ValueError: argument 0 ('k_cache'): expects size 16 in dimension 1, got 8
  Tensor small(kBF16, {4, 8}, kCPU);
  call("static size", kvfuse_call, kFunction, {small, slots, number(1)});
  // CHECK-LABEL: no data
  // CHECK-NEXT: ValueError: argument 0 ('k_cache'): has elements, but no data
  Tensor null(kBF16, {4, 16}, kCPU, nullptr);
  call("no data", kvfuse_call, kFunction, {null, slots, number(1)});
  // CHECK-LABEL: odd address
  // CHECK-NEXT: ValueError: argument 0 ('k_cache'): its data does not begin at a multiple of its elements' 2 bytes
  cache.tensor.byte_offset = 3;
  call("odd address", kvfuse_call, kFunction, {cache, slots, number(1)});
}

static void testSignless() {
  // CHECK-LABEL: either sign
  // CHECK-NEXT: ended
  // CHECK-NEXT: unsigned
  // CHECK-NEXT: ended
  Tensor bytes({kDLInt, 8, 1}, {7}, kCPU);
  Tensor unsignedBytes({kDLUInt, 8, 1}, {7}, kCPU);
  call("either sign", kvfuse_call, kBytes, {bytes});
  call("unsigned", kvfuse_call, kBytes, {unsignedBytes});
  // CHECK-NEXT: neither
  // CHECK-NEXT: TypeError: argument 0 ('bytes'): expects int8 or uint8, got bool
  Tensor booleans({kDLBool, 8, 1}, {7}, kCPU);
  call("neither", kvfuse_call, kBytes, {booleans});
}

static void testDevices() {
  Tensor cache(kBF16, {4, 16});
  Tensor slots(kInt64, {7});
  Tensor host(kInt64, {7}, kCPU);
  Tensor elsewhere(kInt64, {7}, {kDLCUDA, 1});
  Tensor metal(kInt64, {7}, {kDLMetal, 0});
  // CHECK-LABEL: CUDA for the CPU
  // CHECK-NEXT: ValueError: argument 0 ('k_cache'): expects a tensor on cpu, got one on cuda:0
  call("CUDA for the CPU", kvfuse_call, kFunction, {cache, slots, number(1)});
  // CHECK-LABEL: a CPU tensor among others
  // CHECK-NEXT: ValueError: argument 1 ('slots'): expects a tensor on cuda, got one on cpu
  call("a CPU tensor among others", kvfuse_call, kGPUFunction,
       {cache, host, number(1)});
  // CHECK-LABEL: two devices
  // CHECK-NEXT: ValueError: argument 1 ('slots'): is on cuda:1, but argument 0 ('k_cache') is on cuda:0
  call("two devices", kvfuse_call, kGPUFunction, {cache, elsewhere, number(1)});
  // CHECK-LABEL: neither
  // CHECK-NEXT: ValueError: argument 1 ('slots'): expects a tensor on cuda, got one on a device of DLPack type 8
  call("neither", kvfuse_call, kGPUFunction, {cache, metal, number(1)});
}

static void testMessages() {
  // CHECK-LABEL: rules
  // CHECK-NEXT: IndexError: SX5: index out of bounds in destination 0
  // CHECK-NEXT: rules
  // CHECK-NEXT: ValueError: SX10: too few slots
  // CHECK-NEXT: rules
  // CHECK-NEXT: ValueError: SM8: arguments 0 and 1 overlap
  // CHECK-NEXT: rules
  // CHECK-NEXT: RuntimeError: SX50 is no rule
  const char *(*const bodies[])(void **) = {
      [](void **) { return "SX5: index out of bounds in destination 0"; },
      [](void **) { return "SX10: too few slots"; },
      [](void **) { return "SM8: arguments 0 and 1 overlap"; },
      [](void **) { return "SX50 is no rule"; }};
  for (auto *body : bodies)
    call("rules", kvfuse_call, {"f", body, nullptr, 0, kDLCPU, nullptr, 0}, {});
}

int main() {
  testPacking();
  testMany();
  testKinds();
  testSignature();
  testSignless();
  testDevices();
  testMessages();
}
