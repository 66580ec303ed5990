//===- Arguments.h - Arguments, checked and packed --------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_ARGUMENTS_H
#define KVFUSE_LIB_RUNTIME_ARGUMENTS_H

#include "ArgumentErrors.h"
#include "StackBuffer.h"

namespace kvfuse::runtime {

/// The arguments of a call, as host code takes them.
class Arguments {
public:
  explicit Arguments(const KVFuseFunction &function);

  /// Checks and packs `args`. Returns false after an error was raised.
  bool pack(const TVMFFIAny *args, int32_t numArgs);

  void **data() { return pointers.data(); }
  /// The device of all tensors.
  DLDevice getDevice() const { return device; }

private:
  bool packScalar(int32_t index, const TVMFFIAny &value);
  bool packTensor(int32_t index, const DLTensor &tensor);
  /// Packs sizes and strides; false if the tensor has others, or another rank.
  bool packShape(const KVFuseArgument &expected, const DLTensor &tensor);
  bool checkDevice(int32_t index, const DLTensor &tensor);

  const KVFuseFunction &function;
  ArgumentErrors errors;
  DLDevice device;
  /// The first tensor, which says what the device is; -1 before it.
  int32_t deviceFrom = -1;
  /// Descriptors and scalars, and where the next one goes.
  StackBuffer<int64_t, 512> words;
  int64_t *next;
  StackBuffer<void *, 64> pointers;
};

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_ARGUMENTS_H
