//===- CallContext.h - The call that a thread is in -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_CALLCONTEXT_H
#define KVFUSE_LIB_RUNTIME_CALLCONTEXT_H

#include "Driver.h"
#include <cstdint>
#include <tvm/ffi/c_api.h>
#include <vector>

namespace kvfuse::runtime {

/// What launches and allocations of a running call need. One lives on the stack
/// of each kvfuse_call.
struct CallContext {
  DLDevice device;
  /// Null on the CPU.
  const Driver *driver = nullptr;
  /// The caller's current stream on the device.
  void *stream = nullptr;
  /// The CUDA context that is current during the call; 0 on the CPU.
  uint64_t contextId = 0;
  /// Tensors of the caller's allocator that were not released yet.
  std::vector<TVMFFIObjectHandle> temporaries;
};

/// The innermost call of this thread, or null.
CallContext *&getCurrentCall();

/// Makes `call` the thread's call for a scope. At its end, what the call
/// allocated and did not release is released.
class CallScope {
public:
  explicit CallScope(CallContext &call);
  ~CallScope();
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;

private:
  CallContext &call;
  CallContext *&current = getCurrentCall();
  /// A call may run inside another: an allocator may call a compiled function.
  CallContext *outer = current;
};

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_CALLCONTEXT_H
