// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-merge-writes)' | FileCheck %s

// A kernel takes 4096 bytes of parameters: the slots, 40 bytes, and 25 writes of
// 160 bytes, not 27.

// CHECK-LABEL:    func.func @many(
// CHECK:            kv.write
// CHECK-COUNT-25:   put
// CHECK:            kv.write
// CHECK-COUNT-2:    put
// CHECK-NOT:        put

#map = affine_map<(t, s, h, d) -> (s floordiv 4, h, s mod 4, d)>
func.func @many(%s: memref<?xi64>, %v0: memref<?x4x8xf32>, %c0: memref<?x4x4x8xf32>, %v1: memref<?x4x8xf32>, %c1: memref<?x4x4x8xf32>, %v2: memref<?x4x8xf32>, %c2: memref<?x4x4x8xf32>, %v3: memref<?x4x8xf32>, %c3: memref<?x4x4x8xf32>, %v4: memref<?x4x8xf32>, %c4: memref<?x4x4x8xf32>, %v5: memref<?x4x8xf32>, %c5: memref<?x4x4x8xf32>, %v6: memref<?x4x8xf32>, %c6: memref<?x4x4x8xf32>, %v7: memref<?x4x8xf32>, %c7: memref<?x4x4x8xf32>, %v8: memref<?x4x8xf32>, %c8: memref<?x4x4x8xf32>, %v9: memref<?x4x8xf32>, %c9: memref<?x4x4x8xf32>, %v10: memref<?x4x8xf32>, %c10: memref<?x4x4x8xf32>, %v11: memref<?x4x8xf32>, %c11: memref<?x4x4x8xf32>, %v12: memref<?x4x8xf32>, %c12: memref<?x4x4x8xf32>, %v13: memref<?x4x8xf32>, %c13: memref<?x4x4x8xf32>, %v14: memref<?x4x8xf32>, %c14: memref<?x4x4x8xf32>, %v15: memref<?x4x8xf32>, %c15: memref<?x4x4x8xf32>, %v16: memref<?x4x8xf32>, %c16: memref<?x4x4x8xf32>, %v17: memref<?x4x8xf32>, %c17: memref<?x4x4x8xf32>, %v18: memref<?x4x8xf32>, %c18: memref<?x4x4x8xf32>, %v19: memref<?x4x8xf32>, %c19: memref<?x4x4x8xf32>, %v20: memref<?x4x8xf32>, %c20: memref<?x4x4x8xf32>, %v21: memref<?x4x8xf32>, %c21: memref<?x4x4x8xf32>, %v22: memref<?x4x8xf32>, %c22: memref<?x4x4x8xf32>, %v23: memref<?x4x8xf32>, %c23: memref<?x4x4x8xf32>, %v24: memref<?x4x8xf32>, %c24: memref<?x4x4x8xf32>, %v25: memref<?x4x8xf32>, %c25: memref<?x4x4x8xf32>, %v26: memref<?x4x8xf32>, %c26: memref<?x4x4x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v0 : memref<?x4x8xf32> into %c0 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v1 : memref<?x4x8xf32> into %c1 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v2 : memref<?x4x8xf32> into %c2 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v3 : memref<?x4x8xf32> into %c3 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v4 : memref<?x4x8xf32> into %c4 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v5 : memref<?x4x8xf32> into %c5 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v6 : memref<?x4x8xf32> into %c6 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v7 : memref<?x4x8xf32> into %c7 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v8 : memref<?x4x8xf32> into %c8 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v9 : memref<?x4x8xf32> into %c9 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v10 : memref<?x4x8xf32> into %c10 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v11 : memref<?x4x8xf32> into %c11 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v12 : memref<?x4x8xf32> into %c12 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v13 : memref<?x4x8xf32> into %c13 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v14 : memref<?x4x8xf32> into %c14 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v15 : memref<?x4x8xf32> into %c15 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v16 : memref<?x4x8xf32> into %c16 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v17 : memref<?x4x8xf32> into %c17 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v18 : memref<?x4x8xf32> into %c18 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v19 : memref<?x4x8xf32> into %c19 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v20 : memref<?x4x8xf32> into %c20 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v21 : memref<?x4x8xf32> into %c21 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v22 : memref<?x4x8xf32> into %c22 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v23 : memref<?x4x8xf32> into %c23 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v24 : memref<?x4x8xf32> into %c24 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v25 : memref<?x4x8xf32> into %c25 : memref<?x4x4x8xf32> map(#map)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v26 : memref<?x4x8xf32> into %c26 : memref<?x4x4x8xf32> map(#map)
  return
}
