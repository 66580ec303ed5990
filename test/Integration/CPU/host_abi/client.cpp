//===- client.cpp - A program that calls a compiled function ------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test_host_abi.py links it with the object of its module, for the CPU.
//
//===----------------------------------------------------------------------===//

#include "Testing.h"
#include "write.h"
#include <cstdio>
#include <cstring>

namespace {
constexpr DLDevice kCPU = {kDLCPU, 0};
constexpr DLDataType kF32 = {kDLFloat, 32, 1};
constexpr int64_t kRows = 4, kHeads = 2, kDim = 16;
constexpr int64_t kRow = kHeads * kDim;

uint16_t kCache[kRows * kRow], vCache[kRows * kRow];
float keys[kRow], values[kRow];
int64_t slots[1];
} // namespace

/// The number that has these bits, the upper half of a float's.
static float toFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float number;
  std::memcpy(&number, &wide, sizeof number);
  return number;
}

/// Prints the last element of each row of `vCache`.
static void printCache() {
  std::printf("cache");
  for (int64_t row = 0; row < kRows; ++row)
    std::printf(" %g", toFloat(vCache[(row + 1) * kRow - 1]));
  std::printf("\n");
}

static int32_t callThroughFFI() {
  testing::Tensor kCacheTensor(testing::kBF16, {kRows, kHeads, kDim}, kCPU,
                               kCache);
  testing::Tensor vCacheTensor(testing::kBF16, {kRows, kHeads, kDim}, kCPU,
                               vCache);
  testing::Tensor keyTensor(kF32, {1, kHeads, kDim}, kCPU, keys);
  testing::Tensor valueTensor(kF32, {1, kHeads, kDim}, kCPU, values);
  testing::Tensor slotTensor(testing::kInt64, {1}, kCPU, slots);
  TVMFFIAny arguments[] = {kCacheTensor, vCacheTensor, keyTensor,
                           valueTensor,  slotTensor,   testing::number(2)};
  TVMFFIAny result = {};
  return __tvm_ffi_main(nullptr, arguments, 6, &result);
}

static KVFuseMemRef3 describe(void *data, int64_t rows) {
  return {data, data, 0, {rows, kHeads, kDim}, {kRow, kDim, 1}};
}

/// Calls the function without a check of types.
static const char *callDirectly() {
  KVFuseMemRef3 kCacheRef = describe(kCache, kRows),
                vCacheRef = describe(vCache, kRows), keyRef = describe(keys, 1),
                valueRef = describe(values, 1);
  KVFuseMemRef1 slotRef = {slots, slots, 0, {1}, {1}};
  return _mlir_ciface_main(&kCacheRef, &vCacheRef, &keyRef, &valueRef, &slotRef,
                           2.0f);
}

int main() {
  values[kRow - 1] = 3;
  slots[0] = 2;
  std::printf("through TVM-FFI: %d, ", callThroughFFI());
  printCache();
  slots[0] = kRows;
  std::printf("out of bounds: %d, ", callThroughFFI());
  printCache();
  std::printf("%s\n", testing::takeError().c_str());

  values[kRow - 1] = 4;
  slots[0] = 1;
  const char *message = callDirectly();
  std::printf("direct: %s, ", message ? message : "no message");
  printCache();
  slots[0] = kRows;
  std::printf("direct, out of bounds: %s\n", callDirectly());
}
