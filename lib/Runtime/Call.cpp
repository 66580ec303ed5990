//===- Call.cpp - Calls of compiled functions -----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "CallContext.h"
#include "DeviceScope.h"
#include "Kernels.h"
#include <limits>
#include <tvm/ffi/extra/c_env_api.h>

using namespace kvfuse::runtime;

/// Raises what host code returned. A failed check begins with its rule: SX5 is
/// about an index, SX10 and SM8 about the tensors of the call.
static int32_t raiseMessage(const char *message) {
  std::string text = message;
  std::string rule = text.substr(0, text.find(':'));
  if (rule == "SX5")
    return raise("IndexError", text);
  if (rule == "SX10" || rule == "SM8")
    return raise("ValueError", text);
  return raise("RuntimeError", text);
}

static int32_t returnNone(TVMFFIAny *result) {
  *result = {};
  result->type_index = kTVMFFINone;
  return 0;
}

int32_t kvfuse_call(const KVFuseFunction *function, const TVMFFIAny *args,
                    int32_t numArgs, TVMFFIAny *result) {
  Arguments arguments(*function);
  if (!arguments.pack(args, numArgs))
    return -1;
  CallContext call;
  call.device = arguments.getDevice();
  DeviceScope device;
  if (call.device.device_type == kDLCUDA) {
    if (const char *message = device.enter(call.device.device_id))
      return raise("RuntimeError", message);
    call.driver = &device.getDriver();
    call.stream = TVMFFIEnvGetStream(kDLCUDA, call.device.device_id);
    call.contextId = device.getContextId();
  }
  CallScope scope(call);
  if (const char *message = function->call(arguments.data()))
    return raiseMessage(message);
  return returnNone(result);
}

/// Loads the kernels of `function` on a device. Returns null, or a message.
static const char *load(const KVFuseFunction &function, int32_t ordinal) {
  DeviceScope device;
  if (const char *message = device.enter(ordinal))
    return message;
  for (int32_t i = 0; i < function.num_kernels; ++i) {
    const LoadedKernel *loaded = nullptr;
    if (const char *message =
            getKernel(device.getDriver(), *function.kernels[i],
                      device.getContextId(), loaded))
      return message;
  }
  return nullptr;
}

int32_t kvfuse_load(const KVFuseFunction *function, const TVMFFIAny *args,
                    int32_t numArgs, TVMFFIAny *result) {
  if (numArgs != 1 || args[0].type_index != kTVMFFIInt)
    return raise("TypeError", std::string(function->name) +
                                  "_load takes the number of a device");
  int64_t ordinal = args[0].v_int64;
  if (ordinal < 0 || ordinal > std::numeric_limits<int32_t>::max())
    return raise("ValueError",
                 "no device has the number " + std::to_string(ordinal));
  if (function->device_type == kDLCUDA)
    if (const char *message = load(*function, static_cast<int32_t>(ordinal)))
      return raise("RuntimeError", message);
  return returnNone(result);
}
