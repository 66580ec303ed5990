//===- JIT.h - Objects into this process ------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DRIVER_JIT_H
#define KVFUSE_DRIVER_JIT_H

#include "llvm/Support/Error.h"

namespace kvfuse {

/// What an object of `--emit=obj` offers, at its address.
struct LoadedObject {
  struct Function {
    /// Without the prefix `__tvm_ffi_`.
    std::string name;
    void *address;
  };
  std::vector<Function> functions;
  /// The counters of `--count-branches`, or nothing.
  llvm::ArrayRef<int64_t> branches;
};

/// Links `object` into this process. It refers to the runtime and to what this
/// library itself is linked with. Code and counters stay until the process
/// ends: a CUDA graph may launch a kernel long after the function that it
/// captured. Threads may load at once.
llvm::Expected<LoadedObject> loadObject(llvm::StringRef object);

} // namespace kvfuse

#endif // KVFUSE_DRIVER_JIT_H
