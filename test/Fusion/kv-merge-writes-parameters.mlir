// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-merge-writes)' | FileCheck %s

// A kernel takes 4096 bytes of parameters: 20 writes of 200 bytes, not 24.

// CHECK-LABEL:    func.func @many(
// CHECK:            kv.write
// CHECK-COUNT-20:   put
// CHECK:            kv.write
// CHECK-COUNT-4:    put
// CHECK-NOT:        put

#map = affine_map<(t, s, h, d) -> (s floordiv 4, h, s mod 4, d)>
func.func @many(%s: memref<?xi64>, %v: memref<?x4x8xf32>, %c0: memref<?x4x4x8xf32>, %c1: memref<?x4x4x8xf32>, %c2: memref<?x4x4x8xf32>, %c3: memref<?x4x4x8xf32>, %c4: memref<?x4x4x8xf32>, %c5: memref<?x4x4x8xf32>, %c6: memref<?x4x4x8xf32>, %c7: memref<?x4x4x8xf32>, %c8: memref<?x4x4x8xf32>, %c9: memref<?x4x4x8xf32>, %c10: memref<?x4x4x8xf32>, %c11: memref<?x4x4x8xf32>, %c12: memref<?x4x4x8xf32>, %c13: memref<?x4x4x8xf32>, %c14: memref<?x4x4x8xf32>, %c15: memref<?x4x4x8xf32>, %c16: memref<?x4x4x8xf32>, %c17: memref<?x4x4x8xf32>, %c18: memref<?x4x4x8xf32>, %c19: memref<?x4x4x8xf32>, %c20: memref<?x4x4x8xf32>, %c21: memref<?x4x4x8xf32>, %c22: memref<?x4x4x8xf32>, %c23: memref<?x4x4x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c0 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c1 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c2 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c3 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c4 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c5 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c6 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c7 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c8 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c9 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c10 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c11 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c12 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c13 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c14 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c15 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c16 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c17 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c18 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c19 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c20 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c21 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c22 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c23 : memref<?x4x4x8xf32> map(#map)
  return
}
