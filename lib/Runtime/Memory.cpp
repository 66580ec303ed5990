//===- Memory.cpp - Temporaries from the caller's allocator ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallContext.h"
#include "Message.h"
#include "kvfuse/Runtime/Runtime.h"
#include <tvm/ffi/extra/c_env_api.h>

using namespace kvfuse::runtime;

CallContext *&kvfuse::runtime::getCurrentCall() {
  static thread_local CallContext *current = nullptr;
  return current;
}

CallScope::CallScope(CallContext &call) : call(call) { current = &call; }

CallScope::~CallScope() {
  current = outer;
  for (; !call.temporaries.empty(); call.temporaries.pop_back())
    TVMFFIObjectDecRef(call.temporaries.back());
}

/// The text of the error that TVM-FFI holds for this thread.
static std::string takeRaisedError() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (!error)
    return "no reason was given";
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
  std::string text(cell->message.data, cell->message.size);
  TVMFFIObjectDecRef(error);
  return text;
}

const char *kvfuse_allocate(int64_t bytes, void **out) {
  *out = nullptr;
  if (bytes == 0)
    return nullptr;
  CallContext *call = getCurrentCall();
  if (!call)
    return setMessage("temporaries come from the caller's allocator, so the "
                      "function has to be called through TVM-FFI");
  DLTensor prototype = {};
  prototype.device = call->device;
  prototype.ndim = 1;
  prototype.dtype = {kDLUInt, 8, 1};
  prototype.shape = &bytes;
  TVMFFIObjectHandle tensor = nullptr;
  if (TVMFFIEnvTensorAlloc(&prototype, &tensor) != 0)
    return setMessage("the caller's allocator gave no temporary of " +
                      std::to_string(bytes) + " bytes: " + takeRaisedError());
  call->temporaries.push_back(tensor);
  *out = TVMFFITensorGetDLTensorPtr(tensor)->data;
  return nullptr;
}

void kvfuse_release(void *data) {
  CallContext *call = getCurrentCall();
  if (!data || !call)
    return;
  auto found = call->temporaries.begin();
  while (found != call->temporaries.end() &&
         TVMFFITensorGetDLTensorPtr(*found)->data != data)
    ++found;
  if (found == call->temporaries.end())
    return;
  TVMFFIObjectHandle tensor = *found;
  call->temporaries.erase(found);
  TVMFFIObjectDecRef(tensor);
}
