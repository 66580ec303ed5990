//===- Arguments.cpp - Arguments, checked and packed ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Scalars.h"
#include <algorithm>

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

static const DLTensor *getTensor(const TVMFFIAny &value) {
  switch (value.type_index) {
  case kTVMFFITensor:
    return TVMFFITensorGetDLTensorPtr(value.v_obj);
  case kTVMFFIDLTensorPtr:
    return static_cast<const DLTensor *>(value.v_ptr);
  default:
    return nullptr;
  }
}

std::string Arguments::describe(int32_t index) const {
  std::string text = "argument " + std::to_string(index);
  if (const char *name = function.arguments[index].name)
    text += std::string(" ('") + name + "')";
  return text;
}

bool Arguments::fail(const char *kind, int32_t index,
                     const std::string &problem) const {
  raise(kind, describe(index) + ": " + problem);
  return false;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool matches(DLDataType expected, DLDataType actual) {
  if (isSignless(expected))
    return (actual.code == kDLInt || actual.code == kDLUInt) &&
           actual.bits == expected.bits && actual.lanes == 1;
  return actual.code == expected.code && actual.bits == expected.bits &&
         actual.lanes == expected.lanes;
}

bool Arguments::checkSignature(int32_t index, const DLTensor &tensor) const {
  const KVFuseArgument &expected = function.arguments[index];
  if (!matches(expected.type, tensor.dtype))
    return fail("TypeError", index,
                "expects " + toString(expected.type) + ", got " +
                    toString(tensor.dtype));
  if (tensor.ndim != expected.rank)
    return fail("ValueError", index,
                "expects " + std::to_string(expected.rank) +
                    " dimensions, got " + std::to_string(tensor.ndim));
  for (int32_t i = 0; i < expected.rank; ++i)
    if (expected.sizes[i] >= 0 && tensor.shape[i] != expected.sizes[i])
      return fail("ValueError", index,
                  "expects size " + std::to_string(expected.sizes[i]) +
                      " in dimension " + std::to_string(i) + ", got " +
                      std::to_string(tensor.shape[i]));
  return true;
}

bool Arguments::checkDevice(int32_t index, const DLTensor &tensor) {
  if (tensor.device.device_type != function.device_type)
    return fail("ValueError", index,
                std::string("expects a tensor on ") +
                    (function.device_type == kDLCPU ? "cpu" : "cuda") +
                    ", got one on " + toString(tensor.device));
  if (deviceFrom < 0) {
    device = tensor.device;
    deviceFrom = index;
  } else if (tensor.device.device_id != device.device_id) {
    return fail("ValueError", index,
                "is on " + toString(tensor.device) + ", but " +
                    describe(deviceFrom) + " is on " + toString(device));
  }
  return true;
}

bool Arguments::checkData(int32_t index, const DLTensor &tensor) const {
  if (!tensor.data && std::find(tensor.shape, tensor.shape + tensor.ndim, 0) ==
                          tensor.shape + tensor.ndim)
    return fail("ValueError", index, "has elements, but no data");
  uintptr_t address =
      reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  // A power of two, and a mask takes a tenth of a division's time.
  uintptr_t bytes = std::max(1, tensor.dtype.bits / 8);
  if (address & (bytes - 1))
    return fail("ValueError", index,
                "its data does not begin at a multiple of its elements' " +
                    std::to_string(bytes) + " bytes");
  return true;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Words of a memref descriptor, or of a scalar.
static int64_t getNumWords(const KVFuseArgument &argument) {
  return argument.rank < 0 ? 1 : 3 + 2 * argument.rank;
}

static int64_t getNumWords(const KVFuseFunction &function) {
  int64_t numWords = 0;
  for (int32_t i = 0; i < function.num_arguments; ++i)
    numWords += getNumWords(function.arguments[i]);
  return numWords;
}

Arguments::Arguments(const KVFuseFunction &function)
    : function(function),
      device{static_cast<DLDeviceType>(function.device_type), 0},
      words(getNumWords(function)), next(words.data()),
      pointers(function.num_arguments) {}

bool Arguments::pack(const TVMFFIAny *args, int32_t numArgs) {
  if (numArgs != function.num_arguments) {
    raise("TypeError", std::string(function.name) + " takes " +
                           std::to_string(function.num_arguments) +
                           " arguments, got " + std::to_string(numArgs));
    return false;
  }
  for (int32_t i = 0; i < numArgs; ++i)
    if (!packArgument(i, args[i]))
      return false;
  return true;
}

bool Arguments::packArgument(int32_t index, const TVMFFIAny &value) {
  const KVFuseArgument &expected = function.arguments[index];
  pointers[index] = next;
  if (expected.rank >= 0) {
    const DLTensor *tensor = getTensor(value);
    if (!tensor)
      return fail("TypeError", index,
                  "expects a tensor of " + toString(expected.type) + ", got " +
                      describeType(value));
    return packTensor(index, *tensor);
  }
  switch (packScalar(expected.type, value, next)) {
  case ScalarStatus::Packed:
    ++next;
    return true;
  case ScalarStatus::WrongKind:
    return fail("TypeError", index,
                "expects a number of type " + toString(expected.type) +
                    ", got " + describeType(value));
  case ScalarStatus::OutOfRange:
    return fail("ValueError", index,
                std::to_string(value.v_int64) + " is no " +
                    toString(expected.type));
  }
  return false;
}

/// Before DLPack 1.2, no strides meant contiguous elements.
static void setContiguous(const DLTensor &tensor, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; i-- > 0; stride *= tensor.shape[i])
    strides[i] = stride;
}

bool Arguments::packTensor(int32_t index, const DLTensor &tensor) {
  if (!checkSignature(index, tensor) || !checkDevice(index, tensor) ||
      !checkData(index, tensor))
    return false;
  auto data = reinterpret_cast<intptr_t>(tensor.data) +
              static_cast<intptr_t>(tensor.byte_offset);
  *next++ = data;
  *next++ = data;
  *next++ = 0;
  int64_t *strides = next + tensor.ndim;
  std::copy_n(tensor.shape, tensor.ndim, next);
  if (tensor.strides)
    std::copy_n(tensor.strides, tensor.ndim, strides);
  else
    setContiguous(tensor, strides);
  next = strides + tensor.ndim;
  return true;
}
