//===- ArgumentErrors.h - What is wrong with an argument --------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Apart from the checks, which run in each call: these run after one failed.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_ARGUMENTERRORS_H
#define KVFUSE_LIB_RUNTIME_ARGUMENTERRORS_H

#include "kvfuse/Runtime/Runtime.h"
#include <string>

namespace kvfuse::runtime {

/// Raises an error of a Python exception's name. Returns -1, TVM-FFI's status
/// for it.
int32_t raise(const char *kind, const std::string &message);

/// Raises errors about the arguments of a function, by number and name. All
/// return false.
class ArgumentErrors {
public:
  explicit ArgumentErrors(const KVFuseFunction &function)
      : function(function) {}

  bool raiseNumber(int32_t numArgs) const;
  bool raiseNoTensor(int32_t index, const TVMFFIAny &value) const;
  bool raiseNoScalar(int32_t index, const TVMFFIAny &value) const;
  bool raiseOutOfRange(int32_t index, const TVMFFIAny &value) const;
  /// The tensor's type, rank or sizes are others.
  bool raiseSignature(int32_t index, const DLTensor &tensor) const;
  /// The tensor is not where the function runs, or not where the tensor
  /// `deviceFrom` is, if that is not -1.
  bool raiseDevice(int32_t index, const DLTensor &tensor, int32_t deviceFrom,
                   DLDevice device) const;
  bool raiseNoData(int32_t index) const;
  /// The data is not aligned to its elements.
  bool raiseUnaligned(int32_t index) const;

private:
  bool fail(const char *kind, int32_t index, const std::string &problem) const;
  std::string describe(int32_t index) const;

  const KVFuseFunction &function;
};

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_ARGUMENTERRORS_H
