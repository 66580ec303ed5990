// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-alloc-to-runtime)' -split-input-file -verify-diagnostics

func.func @alignment() {
  // expected-error @+1 {{failed to legalize operation 'memref.alloc'}}
  %m = memref.alloc() {alignment = 4096 : i64} : memref<4xf32>
  return
}

// -----

func.func @unranked(%m: memref<*xf32>) {
  // expected-error @+1 {{failed to legalize operation 'memref.dealloc'}}
  memref.dealloc %m : memref<*xf32>
  return
}
