/*===- Runtime.h - What compiled functions call -------------------*- C -*-===*\
|*
|* Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The C interface of libkvfuse_runtime.so, for the code that kvfuse emits.
Users
|* call the TVM-FFI functions that this code exports. See docs/runtime.md.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVFUSE_RUNTIME_RUNTIME_H
#define KVFUSE_RUNTIME_RUNTIME_H

#include <dlpack/dlpack.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

/* C, with the names of a C interface. */
/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming) */

#define KVFUSE_RUNTIME_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** An argument of a function. */
typedef struct KVFuseArgument {
  /** As in the model code, or null. */
  const char *name;
  /**
   * Of a tensor's elements, or of the scalar. kDLInt with 0 lanes: integers of
   * that width, signed or not.
   */
  DLDataType type;
  /** Number of dimensions; -1: a scalar. */
  int32_t rank;
  /** 1 if the function writes the tensor. */
  int32_t written;
  /** `rank` sizes, -1 for any; null where rank <= 0. */
  const int64_t *sizes;
} KVFuseArgument;

/** Device code. It lies in writable memory, as kernels do. */
typedef struct KVFuseModule {
  /** PTX, null-terminated, or a cubin. */
  const void *image;
  /** In bytes, the terminator of PTX included. */
  int64_t size;
  /** The runtime's; null at first. */
  void *state;
} KVFuseModule;

enum {
  /** The kernel waits for the one before it by itself (griddepcontrol). */
  KVFUSE_KERNEL_DEPENDENT_LAUNCH = 1
};

/** A kernel of a module. */
typedef struct KVFuseKernel {
  KVFuseModule *module;
  const char *name;
  /** KVFUSE_KERNEL_*, or-ed. */
  int64_t flags;
  /** The runtime's; null at first. */
  void *state;
} KVFuseKernel;

/** An exported function. */
typedef struct KVFuseFunction {
  const char *name;
  /**
   * The host code. `arguments[i]` points to a scalar of the argument's type, or
   * to a tensor's memref descriptor: {void *allocated, void *aligned, int64_t
   * offset, int64_t sizes[rank], int64_t strides[rank]}, strides in elements.
   * Returns null, or a message.
   */
  const char *(*call)(void **arguments);
  const KVFuseArgument *arguments;
  int32_t num_arguments;
  /** kDLCPU or kDLCUDA. */
  int32_t device_type;
  /** The kernels that it may launch. */
  KVFuseKernel *const *kernels;
  int32_t num_kernels;
} KVFuseFunction;

/**
 * The body of an exported function `__tvm_ffi_NAME`: checks and packs the
 * arguments and calls the host code. TVM-FFI's convention: 0, or -1 with an
 * error raised.
 */
KVFUSE_RUNTIME_API int32_t kvfuse_call(const KVFuseFunction *function,
                                       const TVMFFIAny *args, int32_t num_args,
                                       TVMFFIAny *result);

/**
 * The body of `__tvm_ffi_NAME_load(device_id)`: loads the function's kernels
 * where a call on that device runs, so that the first one takes no longer.
 */
KVFUSE_RUNTIME_API int32_t kvfuse_load(const KVFuseFunction *function,
                                       const TVMFFIAny *args, int32_t num_args,
                                       TVMFFIAny *result);

/**
 * Launches `kernel` on the stream of the call, or in the current context on
 * stream 0 where no kvfuse_call is running. Each parameter lies at the start of
 * an 8-byte slot. Returns null, or a message that lives until the thread's next
 * call of this library.
 */
KVFUSE_RUNTIME_API const char *
kvfuse_launch(KVFuseKernel *kernel, int64_t grid_x, int64_t grid_y,
              int64_t grid_z, int64_t block_x, int64_t block_y, int64_t block_z,
              const int64_t *parameters, int64_t num_parameters);

/**
 * Takes `bytes` of memory on the call's device from the caller's allocator
 * (TVMFFIEnvTensorAlloc). Returns null, or a message as kvfuse_launch does.
 */
KVFUSE_RUNTIME_API const char *kvfuse_allocate(int64_t bytes, void **out);

/**
 * Gives memory of kvfuse_allocate back, on the same thread. What a call does
 * not give back is released at its end.
 */
KVFUSE_RUNTIME_API void kvfuse_release(void *data);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,readability-identifier-naming) */

#endif /* KVFUSE_RUNTIME_RUNTIME_H */
