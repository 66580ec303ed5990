//===- CallContext.h - The call that a thread is in -------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_CALLCONTEXT_H
#define KVFUSE_LIB_RUNTIME_CALLCONTEXT_H

#include <cstddef>
#include <cstdint>
#include <dlpack/dlpack.h>

namespace kvfuse::runtime {

/// What launches and allocations of a running call need. One lives on the stack
/// of each kvfuse_call.
struct CallContext {
  DLDevice device;
  /// The caller's current stream on the device.
  void *stream = nullptr;
  /// The CUDA context that is current during the call; 0 on the CPU.
  uint64_t contextId = 0;
};

/// The innermost call of this thread, or null.
const CallContext *getCurrentCall();

/// Makes `call` the thread's call for a scope. At its end, what the call
/// allocated and did not release is released.
class CallScope {
public:
  explicit CallScope(const CallContext &call);
  ~CallScope();
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;

private:
  /// A call may run inside another: an allocator may call a compiled function.
  const CallContext *outer = getCurrentCall();
  size_t numOuterTemporaries;
};

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_CALLCONTEXT_H
