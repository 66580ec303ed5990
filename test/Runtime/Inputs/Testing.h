//===- Testing.h - Functions and tensors of the tests -----------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test prints what happens, and FileCheck compares.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_TEST_RUNTIME_TESTING_H
#define KVFUSE_TEST_RUNTIME_TESTING_H

#include "kvfuse/Runtime/Runtime.h"
#include <cstdio>
#include <string>
#include <vector>

namespace testing {

inline constexpr DLDataType kInt64 = {kDLInt, 64, 1};
inline constexpr DLDataType kBF16 = {kDLBfloat, 16, 1};
inline constexpr DLDataType kF8 = {kDLFloat8_e4m3fn, 8, 1};

/// A contiguous tensor, and the value that passes it.
class Tensor {
public:
  Tensor(DLDataType type, std::vector<int64_t> sizes,
         DLDevice device = {kDLCUDA, 0}, void *data = buffer())
      : shape(std::move(sizes)), strides(shape.size()) {
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
      strides[i] = stride;
    tensor = {data,         device,         int32_t(shape.size()), type,
              shape.data(), strides.data(), /*byte_offset=*/0};
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  operator TVMFFIAny() {
    TVMFFIAny value = {};
    value.type_index = kTVMFFIDLTensorPtr;
    value.v_ptr = &tensor;
    return value;
  }

  /// An aligned address that nothing reads.
  static void *buffer() {
    alignas(256) static char bytes[256];
    return bytes;
  }

  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DLTensor tensor;
};

inline TVMFFIAny integer(int64_t number) {
  TVMFFIAny value = {};
  value.type_index = kTVMFFIInt;
  value.v_int64 = number;
  return value;
}

inline TVMFFIAny number(double number) {
  TVMFFIAny value = {};
  value.type_index = kTVMFFIFloat;
  value.v_float64 = number;
  return value;
}

inline TVMFFIAny boolean(bool truth) {
  TVMFFIAny value = {};
  value.type_index = kTVMFFIBool;
  value.v_int64 = truth;
  return value;
}

/// Takes the raised error: its kind and its message.
inline std::string takeError() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (!error)
    return "no error was raised";
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
  std::string text = std::string(cell->kind.data, cell->kind.size) + ": " +
                     std::string(cell->message.data, cell->message.size);
  TVMFFIObjectDecRef(error);
  return text;
}

using Entry = int32_t (*)(const KVFuseFunction *, const TVMFFIAny *, int32_t,
                          TVMFFIAny *);

/// Calls `entry` of `function` and prints `what`, the driver's calls, and how
/// it ended.
inline void call(const char *what, Entry entry, const KVFuseFunction &function,
                 std::vector<TVMFFIAny> arguments) {
  std::printf("%s\n", what);
  TVMFFIAny result = {};
  int32_t status =
      entry(&function, arguments.data(), int32_t(arguments.size()), &result);
  if (status == 0)
    std::printf("  ended\n");
  else
    std::printf("  %s\n", takeError().c_str());
}

} // namespace testing

#endif // KVFUSE_TEST_RUNTIME_TESTING_H
