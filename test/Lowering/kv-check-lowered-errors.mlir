// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-check-lowered{allow=llvm,gpu})' -verify-diagnostics -split-input-file -allow-unregistered-dialect

// An upstream conversion to float8 that nothing lowers.
llvm.func @fp8(%x: f32) {
  // expected-error @+1 {{'arith.truncf' op was left behind by lowering}}
  %y = arith.truncf %x : f32 to f8E4M3FN
  llvm.return
}

// -----

// A type conversion that stopped half-way.
llvm.func @cast(%x: i64) {
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' op was left behind by lowering}}
  %y = builtin.unrealized_conversion_cast %x : i64 to index
  llvm.return
}

// -----

// Only the first is named.
// expected-error @+1 {{'func.func' op was left behind by lowering}}
func.func @first() {
  return
}

// -----

module @nested {
  gpu.module @kernels {
    llvm.func @k() {
      // expected-error @+1 {{'nvvm.barrier0' op was left behind by lowering}}
      nvvm.barrier0
      llvm.return
    }
  }
}

// -----

llvm.func @unregistered() {
  // expected-error @+1 {{'other.op' op was left behind by lowering}}
  "other.op"() : () -> ()
  llvm.return
}
