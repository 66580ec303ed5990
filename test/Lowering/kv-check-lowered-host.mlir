// RUN: kvfuse-opt %s -split-input-file --verify-diagnostics -pass-pipeline='builtin.module(kv-check-lowered{host=true})'

// Kernels access memory; the host asks for sizes only.

module attributes {gpu.container_module} {
  func.func @sizes(%a: memref<?xf32>) -> index {
    %c0 = arith.constant 0 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %view = memref.cast %a : memref<?xf32> to memref<8xf32>
    %temporary = memref.alloc(%n) : memref<?xf32>
    memref.dealloc %temporary : memref<?xf32>
    return %n : index
  }
  gpu.module @kernels {
    gpu.func @k(%a: memref<f32>) kernel {
      %x = memref.load %a[] : memref<f32>
      memref.store %x, %a[] : memref<f32>
      gpu.return
    }
  }
}

// -----

func.func @flag(%flags: memref<i1>) -> i1 {
  // expected-error @below {{'memref.load' op accesses memory of the device on the host}}
  %flag = memref.load %flags[] : memref<i1>
  return %flag : i1
}

// -----

func.func @store(%a: memref<f32>, %x: f32) {
  // expected-error @below {{'memref.store' op accesses memory of the device on the host}}
  memref.store %x, %a[] : memref<f32>
  return
}

// -----

// Globals beside the kernels are the host's.

memref.global @counters : memref<2xi64> = dense<0>
func.func @count(%i: index) {
  %one = arith.constant 1 : i64
  %counters = memref.get_global @counters : memref<2xi64>
  %old = memref.atomic_rmw addi %one, %counters[%i] : (i64, memref<2xi64>) -> i64
  return
}
