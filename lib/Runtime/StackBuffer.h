//===- StackBuffer.h - Arrays of a call -------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_STACKBUFFER_H
#define KVFUSE_LIB_RUNTIME_STACKBUFFER_H

#include <cstddef>
#include <memory>

namespace kvfuse::runtime {

/// `size` uninitialized elements: up to N of them on the stack, where every
/// function of a usual size stays, so that a call does not allocate.
template <typename T, size_t N> class StackBuffer {
public:
  explicit StackBuffer(size_t size)
      : large(size > N ? new T[size] : nullptr),
        elements(large ? large.get() : small) {}

  T *data() { return elements; }
  T &operator[](size_t index) { return elements[index]; }

private:
  T small[N];
  std::unique_ptr<T[]> large;
  T *elements;
};

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_STACKBUFFER_H
