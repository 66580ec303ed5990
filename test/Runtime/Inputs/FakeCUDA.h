//===- FakeCUDA.h - A CUDA driver that writes down its calls ----*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a test controls the library that stands in for libcuda.so.1. It has two
// devices.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_TEST_RUNTIME_FAKECUDA_H
#define KVFUSE_TEST_RUNTIME_FAKECUDA_H

#define FAKE_CUDA_API extern "C" __attribute__((visibility("default")))

/// Lets every call of `function` return `error` from now on; 0 ends that.
FAKE_CUDA_API void fakeFail(const char *function, int error);

/// How often `function` was called.
FAKE_CUDA_API int fakeCount(const char *function);

/// Destroys the primary context of `device`, as cudaDeviceReset does.
FAKE_CUDA_API void fakeResetDevice(int device);

/// Makes the primary context of `device` the thread's current one, as
/// cudaSetDevice does.
FAKE_CUDA_API void fakeSetDevice(int device);

/// Is a stream captured, in the mode that forbids most?
FAKE_CUDA_API void fakeCapture(bool isCapturing);

/// The thread's CUstreamCaptureMode.
FAKE_CUDA_API int fakeCaptureMode();

/// Are calls printed? They are at first.
FAKE_CUDA_API void fakePrint(bool isPrinted);

#endif // KVFUSE_TEST_RUNTIME_FAKECUDA_H
