//===- DeviceScope.h - Contexts of devices ----------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_DEVICESCOPE_H
#define KVFUSE_LIB_RUNTIME_DEVICESCOPE_H

#include "Driver.h"
#include <cstdint>

namespace kvfuse::runtime {

/// Has a context of a device current for a scope: the thread's own where it is
/// of that device, otherwise the device's primary context.
class DeviceScope {
public:
  DeviceScope() = default;
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

  /// Returns null, or a message.
  const char *enter(int32_t ordinal);

  const Driver &getDriver() const { return *driver; }
  /// No two contexts of a process have the same, destroyed ones included.
  uint64_t getContextId() const { return contextId; }

private:
  /// Makes a context of the device current if none of it is.
  const char *makeCurrent(int32_t ordinal);
  const char *pushPrimary(CUdevice device, int32_t ordinal);

  const Driver *driver = nullptr;
  uint64_t contextId = 0;
  bool pushed = false;
};

/// Sets `id` to that of the current context. Returns null, or a message.
const char *getCurrentContextId(const Driver &driver, uint64_t &id);

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_DEVICESCOPE_H
