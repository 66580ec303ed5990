// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-launch-to-llvm)' -split-input-file -verify-diagnostics

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "ptx">]
  memref.global "private" constant @table : memref<4xf32> = dense<1.0>
  func.func @host_memory(%n: index) {
    %table = memref.get_global @table : memref<4xf32>
    %view = memref.cast %table : memref<4xf32> to memref<?xf32>
    // expected-error @+1 {{passes memory of the host to a kernel}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%view : memref<?xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "ptx">]
  func.func @shared_memory(%n: index, %bytes: i32) {
    // expected-error @+1 {{expects a synchronous launch, without clusters and shared memory}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "ptx">]
  func.func @unranked(%n: index, %a: memref<*xf32>) {
    // expected-error @+1 {{passes a buffer of unknown rank}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<*xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @not_compiled(%n: index) {
    // expected-error @+1 {{launches a kernel that is not compiled}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @+1 {{expects one object, for one target}}
  gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "a">, #gpu.object<#nvvm.target<chip = "sm_90">, assembly = "b">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @+1 {{expects PTX or a cubin}}
  gpu.binary @kernels [#gpu.object<#nvvm.target, offload = "bitcode">]
}
