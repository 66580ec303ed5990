// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-emulate-gpu)' -verify-diagnostics -split-input-file

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @global_id() kernel {
      // expected-error @+1 {{'gpu.global_id' op has no emulation on the CPU}}
      %i = gpu.global_id x
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @barrier(%ok: i1) kernel {
      scf.if %ok {
        // expected-error @+1 {{'gpu.barrier' op has no emulation on the CPU}}
        gpu.barrier
      }
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @+1 {{'gpu.func' op expects a kernel of one block, without memory attributions, to be emulated on the CPU}}
    gpu.func @blocks(%ok: i1) kernel {
      cf.cond_br %ok, ^end, ^end
    ^end:
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @+1 {{'gpu.func' op expects a kernel of one block, without memory attributions, to be emulated on the CPU}}
    gpu.func @shared() workgroup(%m: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @+1 {{'gpu.func' op expects a kernel of one block, without memory attributions, to be emulated on the CPU}}
    gpu.func @not_a_kernel() {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @+1 {{'func.func' op has no emulation on the CPU beside kernels}}
    func.func @device() {
      return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @async() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.wait' op has no emulation on the CPU}}
    %t = gpu.wait async
    gpu.launch_func [%t] @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @async(%t: !gpu.async.token) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.launch_func' op expects a synchronous launch, without clusters and shared memory, to be emulated on the CPU}}
    gpu.launch_func [%t] @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @clusters() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.launch_func' op expects a synchronous launch, without clusters and shared memory, to be emulated on the CPU}}
    gpu.launch_func @kernels::@k clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @+1 {{'gpu.binary' op has no emulation on the CPU}}
  gpu.binary @kernels [#gpu.object<#nvvm.target, bin = "">]
}
