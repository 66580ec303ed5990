//===- Client.cpp - A C++ program that loads compiled functions ---------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Client %artefact | FileCheck %s

#include "Testing.h"
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

int main(int, char **argv) {
  tvm::ffi::Module writes = tvm::ffi::Module::LoadFromFile(argv[1]);
  tvm::ffi::Function fill = writes->GetFunction("fill").value();

  // CHECK: 2 0 2 0
  float elements[4] = {};
  testing::Tensor cache({kDLFloat, 32, 1}, {2}, {kDLCPU, 0}, elements);
  cache.strides[0] = 2;
  fill(&cache.tensor, 2.0);
  for (float element : elements)
    std::printf("%g ", element);

  // CHECK: TypeError: argument 1 ('value'): expects a number of type float32, got bool
  try {
    fill(&cache.tensor, true);
  } catch (const tvm::ffi::Error &error) {
    std::printf("\n%s: %s\n", error.kind().c_str(), error.message().c_str());
  }
}
