//===- Arguments.h - Arguments, checked and packed --------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_ARGUMENTS_H
#define KVFUSE_LIB_RUNTIME_ARGUMENTS_H

#include "StackBuffer.h"
#include "kvfuse/Runtime/Runtime.h"
#include <string>

namespace kvfuse::runtime {

/// Raises an error of a Python exception's name. Returns -1, TVM-FFI's status
/// for it.
int32_t raise(const char *kind, const std::string &message);

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
  bool packArgument(int32_t index, const TVMFFIAny &value);
  bool packTensor(int32_t index, const DLTensor &tensor);
  /// Type, rank and static sizes.
  bool checkSignature(int32_t index, const DLTensor &tensor) const;
  bool checkDevice(int32_t index, const DLTensor &tensor);
  bool checkData(int32_t index, const DLTensor &tensor) const;
  bool fail(const char *kind, int32_t index, const std::string &problem) const;
  std::string describe(int32_t index) const;

  const KVFuseFunction &function;
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
