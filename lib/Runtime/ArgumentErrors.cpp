//===- ArgumentErrors.cpp - What is wrong with an argument ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentErrors.h"

#include "Scalars.h"
#include "Signature.h"

using namespace kvfuse::runtime;

int32_t kvfuse::runtime::raise(const char *kind, const std::string &message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message.c_str());
  return -1;
}

//===----------------------------------------------------------------------===//
// Words of messages
//===----------------------------------------------------------------------===//

static std::string toString(DLDataType type) {
  if (isSignless(type)) {
    std::string bits = std::to_string(type.bits);
    return "int" + bits + " or uint" + bits;
  }
  TVMFFIAny text = {};
  if (TVMFFIDataTypeToString(&type, &text) != 0)
    return "type code " + std::to_string(type.code);
  // Short strings lie in the value itself.
  if (text.type_index == kTVMFFISmallStr)
    return std::string(text.v_bytes, text.small_str_len);
  const TVMFFIByteArray *bytes = TVMFFIBytesGetByteArrayPtr(text.v_obj);
  std::string result(bytes->data, bytes->size);
  TVMFFIObjectDecRef(text.v_obj);
  return result;
}

static std::string toString(DLDevice device) {
  switch (device.device_type) {
  case kDLCPU:
    return "cpu";
  case kDLCUDA:
    return "cuda:" + std::to_string(device.device_id);
  default:
    return "a device of DLPack type " + std::to_string(device.device_type);
  }
}

/// The type of `value`, as TVM-FFI calls it.
static std::string describeType(const TVMFFIAny &value) {
  if (value.type_index == kTVMFFITensor ||
      value.type_index == kTVMFFIDLTensorPtr)
    return "a tensor";
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(value.type_index);
  return info ? std::string(info->type_key.data, info->type_key.size)
              : "an object";
}

std::string ArgumentErrors::describe(int32_t index) const {
  std::string text = "argument " + std::to_string(index);
  if (const char *name = function.arguments[index].name)
    text += std::string(" ('") + name + "')";
  return text;
}

bool ArgumentErrors::fail(const char *kind, int32_t index,
                          const std::string &problem) const {
  raise(kind, describe(index) + ": " + problem);
  return false;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

bool ArgumentErrors::raiseNumber(int32_t numArgs) const {
  raise("TypeError", std::string(function.name) + " takes " +
                         std::to_string(function.num_arguments) +
                         " arguments, got " + std::to_string(numArgs));
  return false;
}

bool ArgumentErrors::raiseNoTensor(int32_t index,
                                   const TVMFFIAny &value) const {
  return fail("TypeError", index,
              "expects a tensor of " +
                  toString(function.arguments[index].type) + ", got " +
                  describeType(value));
}

bool ArgumentErrors::raiseNoScalar(int32_t index,
                                   const TVMFFIAny &value) const {
  return fail("TypeError", index,
              "expects a number of type " +
                  toString(function.arguments[index].type) + ", got " +
                  describeType(value));
}

bool ArgumentErrors::raiseOutOfRange(int32_t index,
                                     const TVMFFIAny &value) const {
  return fail("ValueError", index,
              std::to_string(value.v_int64) + " is no " +
                  toString(function.arguments[index].type));
}

bool ArgumentErrors::raiseSignature(int32_t index,
                                    const DLTensor &tensor) const {
  const KVFuseArgument &expected = function.arguments[index];
  if (!matchesType(expected.type, tensor.dtype))
    return fail("TypeError", index,
                "expects " + toString(expected.type) + ", got " +
                    toString(tensor.dtype));
  if (tensor.ndim != expected.rank)
    return fail("ValueError", index,
                "expects " + std::to_string(expected.rank) +
                    " dimensions, got " + std::to_string(tensor.ndim));
  int32_t i = 0;
  while (matchesSize(expected.sizes[i], tensor.shape[i]))
    ++i;
  return fail("ValueError", index,
              "expects size " + std::to_string(expected.sizes[i]) +
                  " in dimension " + std::to_string(i) + ", got " +
                  std::to_string(tensor.shape[i]));
}

bool ArgumentErrors::raiseDevice(int32_t index, const DLTensor &tensor,
                                 int32_t deviceFrom, DLDevice device) const {
  if (tensor.device.device_type != function.device_type)
    return fail("ValueError", index,
                std::string("expects a tensor on ") +
                    (function.device_type == kDLCPU ? "cpu" : "cuda") +
                    ", got one on " + toString(tensor.device));
  return fail("ValueError", index,
              "is on " + toString(tensor.device) + ", but " +
                  describe(deviceFrom) + " is on " + toString(device));
}

bool ArgumentErrors::raiseNoData(int32_t index) const {
  return fail("ValueError", index, "has elements, but no data");
}

bool ArgumentErrors::raiseUnaligned(int32_t index) const {
  int32_t bits = function.arguments[index].type.bits;
  return fail("ValueError", index,
              "its data does not begin at a multiple of its elements' " +
                  std::to_string(bits / 8) + " bytes");
}
