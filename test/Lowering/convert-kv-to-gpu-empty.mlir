// Sizes that are 0 in the type: kernels like others, which are not launched (SX9).
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(convert-kv-to-gpu,canonicalize)' --split-input-file | FileCheck %s

// Nothing has a head dimension, or heads.

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @rows(%s: memref<?xi64>, %v: memref<?x2x0xf32>, %c: memref<?x2x4x0xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x2x0xf32> into %c : memref<?x2x4x0xf32>
    map(affine_map<(t, s, h, d) -> (s floordiv 4, h, s mod 4, d)>)
  return
}

// -----

// One of two destinations is empty: the other is written.

// CHECK-LABEL: func.func @one_of_two(
// CHECK:         gpu.launch_func
// CHECK:         return
func.func @one_of_two(%s: memref<?xi64>, %v: memref<?x0x8xf32>, %c: memref<?x0x8xf32>, %w: memref<?x2x8xf32>, %d: memref<?x2x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x0x8xf32> into %c : memref<?x0x8xf32> map(affine_map<(t, s, h, d) -> (s, h, d)>)
    put %w : memref<?x2x8xf32> into %d : memref<?x2x8xf32> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return
}

// -----

// A grid without tokens, and an elementwise operation without elements.

// CHECK-LABEL: func.func @tokens(
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @tokens(%s: memref<?x0xi64>, %v: memref<?x0x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?x0xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x0x8xf32> into %c : memref<?x8xf32> map(affine_map<(a, b, s, d) -> (s, d)>)
  return
}

// CHECK-LABEL: func.func @elements(
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
#id = affine_map<(i, j) -> (i, j)>
func.func @elements(%a: memref<?x0xf32>, %b: memref<?x0xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x0xf32>) outs(%b : memref<?x0xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.negf %x : f32
    linalg.yield %z : f32
  }
  return
}
