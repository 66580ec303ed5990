//===- Driver.h - The CUDA driver -------------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libcuda.so.1 is opened when it is first needed, so that machines without a
// GPU can use everything else.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_DRIVER_H
#define KVFUSE_LIB_RUNTIME_DRIVER_H

#include "CUDA.h"
#include <string>

namespace kvfuse::runtime {

/// The driver's functions, by their names without "cu".
struct Driver {
  CUresult (*init)(unsigned flags);
  CUresult (*getErrorName)(CUresult error, const char **name);
  CUresult (*getErrorString)(CUresult error, const char **text);
  CUresult (*deviceGet)(CUdevice *device, int ordinal);
  CUresult (*devicePrimaryCtxRetain)(CUcontext *context, CUdevice device);
  CUresult (*devicePrimaryCtxGetState)(CUdevice device, unsigned *flags,
                                       int *active);
  CUresult (*ctxGetDevice)(CUdevice *device);
  CUresult (*ctxGetId)(CUcontext context, unsigned long long *id);
  CUresult (*ctxPushCurrent)(CUcontext context);
  CUresult (*ctxPopCurrent)(CUcontext *context);
  CUresult (*moduleLoadDataEx)(CUmodule *module, const void *image,
                               unsigned numOptions, CUjit_option *options,
                               void **values);
  CUresult (*moduleGetFunction)(CUfunction *function, CUmodule module,
                                const char *name);
  /// Null before CUDA 12.4, as is the next.
  CUresult (*funcLoad)(CUfunction function);
  CUresult (*funcGetParamInfo)(CUfunction function, size_t index,
                               size_t *offset, size_t *bytes);
  CUresult (*threadExchangeStreamCaptureMode)(CUstreamCaptureMode *mode);
  CUresult (*launchKernelEx)(const CUlaunchConfig *config, CUfunction function,
                             void **parameters, void **extra);

  /// A message: `what` failed because `call` returned `error`. Says what to do
  /// about it where that is known.
  const char *fail(const std::string &what, const char *call,
                   CUresult error) const;
};

/// Sets `driver` to the initialized driver. Returns null, or a message.
const char *getDriver(const Driver *&driver);

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_DRIVER_H
