//===- Arguments.cpp - Arguments, checked and packed ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Scalars.h"
#include "Signature.h"
#include <algorithm>

using namespace kvfuse::runtime;

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
    : function(function), errors(function),
      device{static_cast<DLDeviceType>(function.device_type), 0},
      words(getNumWords(function)), next(words.data()),
      pointers(function.num_arguments) {}

bool Arguments::pack(const TVMFFIAny *args, int32_t numArgs) {
  if (numArgs != function.num_arguments)
    return errors.raiseNumber(numArgs);
  for (int32_t i = 0; i < numArgs; ++i) {
    pointers[i] = next;
    if (function.arguments[i].rank < 0) {
      if (!packScalar(i, args[i]))
        return false;
      continue;
    }
    const DLTensor *tensor = getTensor(args[i]);
    if (!tensor)
      return errors.raiseNoTensor(i, args[i]);
    if (!packTensor(i, *tensor))
      return false;
  }
  return true;
}

bool Arguments::packScalar(int32_t index, const TVMFFIAny &value) {
  DLDataType type = function.arguments[index].type;
  switch (kvfuse::runtime::packScalar(type, value, next)) {
  case ScalarStatus::Packed:
    ++next;
    return true;
  case ScalarStatus::WrongKind:
    return errors.raiseNoScalar(index, value);
  case ScalarStatus::OutOfRange:
    return errors.raiseOutOfRange(index, value);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool Arguments::checkDevice(int32_t index, const DLTensor &tensor) {
  if (deviceFrom < 0 && tensor.device.device_type == function.device_type) {
    device = tensor.device;
    deviceFrom = index;
  }
  return tensor.device.device_type == device.device_type &&
         tensor.device.device_id == device.device_id;
}

static bool isEmpty(const DLTensor &tensor) {
  return std::count(tensor.shape, tensor.shape + tensor.ndim, 0) != 0;
}

static bool isAligned(uintptr_t address, DLDataType type) {
  // A power of two, and a mask takes a tenth of a division's time.
  uintptr_t bytes = std::max(1, type.bits / 8);
  return (address & (bytes - 1)) == 0;
}

/// Before DLPack 1.2, no strides meant contiguous elements.
static void setContiguous(const DLTensor &tensor, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; i-- > 0; stride *= tensor.shape[i])
    strides[i] = stride;
}

bool Arguments::packShape(const KVFuseArgument &expected,
                          const DLTensor &tensor) {
  int32_t rank = expected.rank;
  if (tensor.ndim != rank)
    return false;
  int64_t *sizes = next;
  int64_t *strides = sizes + rank;
  next = strides + rank;
  const int64_t *given = tensor.strides;
  if (!given) {
    setContiguous(tensor, strides);
    given = strides;
  }
  for (int32_t i = 0; i < rank; ++i) {
    if (!matchesSize(expected.sizes[i], tensor.shape[i]))
      return false;
    sizes[i] = tensor.shape[i];
    strides[i] = given[i];
  }
  return true;
}

bool Arguments::packTensor(int32_t index, const DLTensor &tensor) {
  const KVFuseArgument &expected = function.arguments[index];
  uintptr_t address =
      reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  auto data = static_cast<int64_t>(address);
  *next++ = data;
  *next++ = data;
  *next++ = 0;
  if (!matchesType(expected.type, tensor.dtype) || !packShape(expected, tensor))
    return errors.raiseSignature(index, tensor);
  if (!checkDevice(index, tensor))
    return errors.raiseDevice(index, tensor, deviceFrom, device);
  if (!tensor.data && !isEmpty(tensor))
    return errors.raiseNoData(index);
  if (!isAligned(address, expected.type))
    return errors.raiseUnaligned(index);
  return true;
}
