// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-describe-functions)' -split-input-file -verify-diagnostics | FileCheck %s

// What a caller has to know: data types, sizes, names, and what is written, in
// kernels of functions that are called, too, through views.

module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @entry(
  // CHECK-SAME:    attributes {kv.signature = [
  // CHECK-SAME:      {dtype = "float8_e4m3fn", name = "k_cache", sizes = array<i64: -1, 8>, written},
  // CHECK-SAME:      {dtype = "bfloat16", name = "k", sizes = array<i64: 4, 8>},
  // CHECK-SAME:      {dtype = "int8 or uint8", sizes = array<i64>},
  // CHECK-SAME:      {dtype = "int64"}, {dtype = "bool"}],
  // CHECK-SAME:    llvm.emit_c_interface, llvm.linkage = #llvm.linkage<internal>}
  func.func @entry(%c: memref<?x8xf8E4M3FN> {kv.name = "k_cache"}, %v: memref<4x8xbf16> {kv.name = "k"},
                   %flags: memref<i8>, %n: index, %b: i1) {
    %view = memref.subview %c[0, 0] [%n, 8] [1, 1] : memref<?x8xf8E4M3FN> to memref<?x8xf8E4M3FN, strided<[8, 1]>>
    call @callee(%v, %view, %n) : (memref<4x8xbf16>, memref<?x8xf8E4M3FN, strided<[8, 1]>>, index) -> ()
    return
  }

  // CHECK-LABEL: func.func private @callee(
  // CHECK-NOT:     kv.signature
  // CHECK-NOT:     llvm.emit_c_interface
  // CHECK-SAME:    attributes {llvm.linkage = #llvm.linkage<internal>}
  func.func private @callee(%v: memref<4x8xbf16>, %c: memref<?x8xf8E4M3FN, strided<[8, 1]>>, %n: index) {
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
        args(%v : memref<4x8xbf16>, %n : index, %c : memref<?x8xf8E4M3FN, strided<[8, 1]>>)
    return
  }

  // CHECK-LABEL: func.func private @runtime(
  // CHECK-NOT:     llvm.linkage
  func.func private @runtime(index)

  // An assert has an effect, but writes no argument.

  gpu.module @kernels {
    gpu.func @k(%v: memref<4x8xbf16>, %n: index, %c: memref<?x8xf8E4M3FN, strided<[8, 1]>>) kernel {
      %x = memref.load %v[%n, %n] : memref<4x8xbf16>
      %ok = arith.cmpi ult, %n, %n : index
      cf.assert %ok, "SX5"
      %y = arith.truncf %x : bf16 to f8E4M3FN
      memref.store %y, %c[%n, %n] : memref<?x8xf8E4M3FN, strided<[8, 1]>>
      gpu.return
    }
  }
}

// -----

// CHECK-LABEL: func.func @results(
// CHECK-NOT:     kv.signature
// CHECK-SAME:    llvm.emit_c_interface
// expected-warning @+1 {{'results' returns values and is not exported to TVM-FFI}}
func.func @results(%m: memref<4xf32>) -> memref<4xf32> {
  return %m : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @nibbles(
// CHECK-NOT:     kv.signature
// expected-warning @+1 {{'nibbles' is not exported to TVM-FFI, which cannot pass 'memref<4xi4>'}}
func.func @nibbles(%m: memref<4xi4>) {
  return
}
