// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that does nothing, launched as a write is, a number of times, as a C
// function. Under dependent launch it waits for the kernel in front, and lets the
// one behind start at once (early) or after the wait (late).

#include <cstdint>
#include <cuda_runtime.h>

enum Mode : int64_t { Off, Late, Early };

template <Mode mode> __global__ void emptyKernel() {
  if constexpr (mode == Early)
    cudaTriggerProgrammaticLaunchCompletion();
  if constexpr (mode != Off)
    cudaGridDependencySynchronize();
  if constexpr (mode == Late)
    cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" int launch_empty(int64_t gridX, int64_t gridY, int64_t blockSize,
                            int64_t mode, int64_t times, void *stream) {
  cudaLaunchAttribute dependent;
  dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  dependent.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(gridX, gridY);
  config.blockDim = dim3(blockSize);
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &dependent;
  config.numAttrs = mode == Off ? 0 : 1;
  auto kernel = mode == Off    ? emptyKernel<Off>
                : mode == Late ? emptyKernel<Late>
                               : emptyKernel<Early>;
  for (int64_t i = 0; i < times; ++i)
    if (int error = cudaLaunchKernelEx(&config, kernel))
      return error;
  return 0;
}
