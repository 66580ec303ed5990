//===- NoDriver.cpp - Machines that CUDA does not run on ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: mkdir -p %t && touch %t/libcuda.so.1
// RUN: env LD_LIBRARY_PATH=%t %runtime_tests/NoDriver | FileCheck %s --check-prefix=CHECK-NONE
// RUN: env LD_LIBRARY_PATH=%old_driver %runtime_tests/NoDriver | FileCheck %s --check-prefix=CHECK-OLD
// RUN: env LD_LIBRARY_PATH=%driver FAKE_CUDA_INIT_ERROR=100 %runtime_tests/NoDriver | FileCheck %s --check-prefix=CHECK-NODEVICE

#include "WriteFunction.h"

using namespace testing;

int main() {
  // CHECK-NONE-LABEL: call
  // CHECK-NONE-NEXT: RuntimeError: no CUDA driver can be loaded: {{.*}}libcuda.so.1: file too short
  // CHECK-NONE-NEXT: load
  // CHECK-NONE-NEXT: RuntimeError: no CUDA driver can be loaded: {{.*}}libcuda.so.1: file too short
  // CHECK-OLD-LABEL: call
  // CHECK-OLD-NEXT: RuntimeError: the CUDA driver has no cuCtxGetId: install a driver of CUDA 12.0 or newer
  // CHECK-NODEVICE-LABEL: call
  // CHECK-NODEVICE-NEXT: RuntimeError: CUDA cannot be used: cuInit returned CUDA_ERROR_NO_DEVICE{{$}}
  Tensor slots(kInt64, {4});
  call("call", kvfuse_call, kWrite, {slots});
  call("load", kvfuse_load, kWrite, {integer(0)});
  // Nothing of CUDA is asked for on the CPU.
  // CHECK-NONE: on the CPU
  // CHECK-NONE-NEXT: ended
  // CHECK-NONE-NEXT: load
  // CHECK-NONE-NEXT: ended
  KVFuseFunction host = kWrite;
  host.device_type = kDLCPU;
  host.call = [](void **) -> const char * { return nullptr; };
  Tensor hostSlots(kInt64, {4}, {kDLCPU, 0});
  call("on the CPU", kvfuse_call, host, {hostSlots});
  call("load", kvfuse_load, host, {integer(0)});
}
