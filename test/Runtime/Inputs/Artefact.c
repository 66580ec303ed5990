/*===- Artefact.c - A compiled function, written by hand ----------*- C -*-===*\
|*
|* Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* fill(cache, value): what kvfuse-compile emits for the CPU, in C.
|*
\*===----------------------------------------------------------------------===*/

#include "kvfuse/Runtime/Runtime.h"

typedef struct {
  float *allocated, *aligned;
  int64_t offset, size, stride;
} Descriptor;

static const char *fill(void **arguments) {
  const Descriptor *cache = (const Descriptor *)arguments[0];
  float value = *(const float *)arguments[1];
  for (int64_t i = 0; i < cache->size; ++i)
    cache->aligned[cache->offset + i * cache->stride] = value;
  return 0;
}

static const int64_t sizes[] = {-1};
static const KVFuseArgument arguments[] = {
    {"cache", {kDLFloat, 32, 1}, 1, 1, sizes},
    {"value", {kDLFloat, 32, 1}, -1, 0, 0}};
static const KVFuseFunction function = {"fill", fill, arguments, 2,
                                        kDLCPU, 0,    0};

// Found by this name in the library.
// NOLINTNEXTLINE(misc-use-internal-linkage,readability-identifier-naming)
__attribute__((visibility("default"))) int32_t __tvm_ffi_fill(
    void *self, const TVMFFIAny *args, int32_t numArgs, TVMFFIAny *result) {
  (void)self;
  return kvfuse_call(&function, args, numArgs, result);
}
