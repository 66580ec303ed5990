// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-check-lowered{allow=llvm,gpu,nvvm})' | FileCheck %s
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(gpu.module(kv-check-lowered{allow=llvm,nvvm}))' | FileCheck %s

// The operation that the pass runs on, and modules, are not asked for.

// CHECK-LABEL: module attributes {gpu.container_module}
module attributes {gpu.container_module} {
  // CHECK: llvm.func @host
  llvm.func @host(%a: i32) -> i32 {
    llvm.return %a : i32
  }
  // CHECK: gpu.module @kernels
  gpu.module @kernels {
    // CHECK: nvvm.read.ptx.sreg.tid.x
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      llvm.return
    }
  }
  // CHECK: module @nested
  module @nested {
  }
}
