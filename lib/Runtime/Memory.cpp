//===- Memory.cpp - Temporaries from the caller's allocator ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallContext.h"
#include "Message.h"
#include "kvfuse/Runtime/Runtime.h"
#include <algorithm>
#include <tvm/ffi/extra/c_env_api.h>
#include <vector>

using namespace kvfuse::runtime;

namespace {
/// A tensor of the caller's allocator, kept alive until its release.
struct Temporary {
  TVMFFIObjectHandle tensor;

  void *getData() const { return TVMFFITensorGetDLTensorPtr(tensor)->data; }
};
} // namespace

static thread_local const CallContext *currentCall = nullptr;
/// Of all calls of the thread, the innermost call's last. Its capacity stays.
static thread_local std::vector<Temporary> temporaries;

const CallContext *kvfuse::runtime::getCurrentCall() { return currentCall; }

static void releaseFrom(size_t count) {
  while (temporaries.size() > count) {
    TVMFFIObjectHandle tensor = temporaries.back().tensor;
    temporaries.pop_back();
    TVMFFIObjectDecRef(tensor);
  }
}

CallScope::CallScope(const CallContext &call)
    : numOuterTemporaries(temporaries.size()) {
  currentCall = &call;
}

CallScope::~CallScope() {
  currentCall = outer;
  releaseFrom(numOuterTemporaries);
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
  if (!currentCall)
    return setMessage("temporaries come from the caller's allocator, so the "
                      "function has to be called through TVM-FFI");
  DLTensor prototype = {};
  prototype.device = currentCall->device;
  prototype.ndim = 1;
  prototype.dtype = {kDLUInt, 8, 1};
  prototype.shape = &bytes;
  TVMFFIObjectHandle tensor = nullptr;
  if (TVMFFIEnvTensorAlloc(&prototype, &tensor) != 0)
    return setMessage("the caller's allocator gave no temporary of " +
                      std::to_string(bytes) + " bytes: " + takeRaisedError());
  temporaries.push_back({tensor});
  *out = temporaries.back().getData();
  return nullptr;
}

void kvfuse_release(void *data) {
  if (!data)
    return;
  auto found = std::find_if(
      temporaries.rbegin(), temporaries.rend(),
      [&](const Temporary &temporary) { return temporary.getData() == data; });
  if (found == temporaries.rend())
    return;
  TVMFFIObjectHandle tensor = found->tensor;
  temporaries.erase(std::next(found).base());
  TVMFFIObjectDecRef(tensor);
}
