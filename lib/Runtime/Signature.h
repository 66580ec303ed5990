//===- Signature.h - What tensors a function takes --------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_SIGNATURE_H
#define KVFUSE_LIB_RUNTIME_SIGNATURE_H

#include "Scalars.h"

namespace kvfuse::runtime {

/// Are elements of type `actual` what a tensor of `expected` has?
inline bool matchesType(DLDataType expected, DLDataType actual) {
  if (isSignless(expected))
    return (actual.code == kDLInt || actual.code == kDLUInt) &&
           actual.bits == expected.bits && actual.lanes == 1;
  return actual.code == expected.code && actual.bits == expected.bits &&
         actual.lanes == expected.lanes;
}

/// Is `actual` the size that is expected, where -1 expects any?
inline bool matchesSize(int64_t expected, int64_t actual) {
  return expected < 0 || actual == expected;
}

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_SIGNATURE_H
