//===- Scalars.h - Scalar arguments -----------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_SCALARS_H
#define KVFUSE_LIB_RUNTIME_SCALARS_H

#include <cstdint>
#include <tvm/ffi/c_api.h>

namespace kvfuse::runtime {

enum class ScalarStatus { Packed, WrongKind, OutOfRange };

/// Writes `value` to `slot` as a scalar of `type`; floats are rounded once, to
/// nearest even.
ScalarStatus packScalar(DLDataType type, const TVMFFIAny &value, int64_t *slot);

/// Is `type` one of integers of a width, signed or not?
inline bool isSignless(DLDataType type) {
  return type.code == kDLInt && type.lanes == 0;
}

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_SCALARS_H
