// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// Index arithmetic in arith: what the analysis sees through, and by which range.

#pair = affine_map<(t, p, o, h, d) -> (p, h, o, d)>

// CHECK-DAG: #[[PAGED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1, d2) -> (d1 mod 1000 + 3, d2)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[REMAINDER:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3 mod 16)>
// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2 + d4)>

// A shift is a floor division, and s - page * P its remainder.
// CHECK-LABEL: func @shift_and_subtract
// CHECK-SAME:    %[[S:.*]]: tensor<?xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      map(#[[PAGED]])
func.func @shift_and_subtract(%s: tensor<?xi64>, %v: tensor<?x4x8xf32>, %c: tensor<?x4x32x8xf32>) -> tensor<?x4x32x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %k32 = arith.constant 32 : i64
  %k5 = arith.constant 5 : i64
  %s32 = tensor.splat %k32[%n] : tensor<?xi64>
  %s5 = tensor.splat %k5[%n] : tensor<?xi64>
  %p = arith.shrsi %s, %s5 : tensor<?xi64>
  %pp = arith.muli %p, %s32 : tensor<?xi64>
  %o = arith.subi %s, %pp : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf32> into %c : tensor<?x4x32x8xf32> map(#pair)
  return %0 : tensor<?x4x32x8xf32>
}

// So is a mask of low bits, also on i32.
// CHECK-LABEL: func @shift_and_mask_i32
// CHECK-SAME:    %[[S:.*]]: tensor<16xi32>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<16xi32>)
// CHECK-NEXT:      map(#[[PAGED]])
func.func @shift_and_mask_i32(%s: tensor<16xi32>, %v: tensor<16x4x8xf32>, %c: tensor<?x4x32x8xf32>) -> tensor<?x4x32x8xf32> {
  %k5 = arith.constant dense<5> : tensor<16xi32>
  %k31 = arith.constant dense<31> : tensor<16xi32>
  %p = arith.shrsi %s, %k5 : tensor<16xi32>
  %o = arith.andi %s, %k31 : tensor<16xi32>
  %0 = kv.write at(%p, %o : tensor<16xi32>, tensor<16xi32>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<16x4x8xf32> into %c : tensor<?x4x32x8xf32> map(#pair)
  return %0 : tensor<?x4x32x8xf32>
}

// Truncated and unsigned division of what was clamped at zero. The clamp is a
// redirect and stays (SX6).
// CHECK-LABEL: func @clamped
// CHECK:         %[[CLAMPED:.*]] = arith.maxsi
// CHECK-NEXT:    kv.write at(%[[CLAMPED]] : tensor<?xi64>)
// CHECK-NEXT:      map(#[[PAGED]])
func.func @clamped(%s: tensor<?xi64>, %v: tensor<?x4x8xf32>, %c: tensor<?x4x32x8xf32>) -> tensor<?x4x32x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %k32 = arith.constant 32 : i64
  %k0 = arith.constant 0 : i64
  %s32 = tensor.splat %k32[%n] : tensor<?xi64>
  %s0 = tensor.splat %k0[%n] : tensor<?xi64>
  %clamped = arith.maxsi %s, %s0 : tensor<?xi64>
  %p = arith.divsi %clamped, %s32 : tensor<?xi64>
  %o = arith.remui %clamped, %s32 : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf32> into %c : tensor<?x4x32x8xf32> map(#pair)
  return %0 : tensor<?x4x32x8xf32>
}

// A narrowing and a 32-bit sum of values below 1000 lose nothing.
// CHECK-LABEL: func @narrow
// CHECK-SAME:    %[[S:.*]]: tensor<?xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      map(#[[SUM]])
func.func @narrow(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %m = kv.apply affine_map<(s) -> (s mod 1000)>(%s) : tensor<?xi64>
  %i = arith.trunci %m : tensor<?xi64> to tensor<?xi32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %k3 = arith.constant 3 : i32
  %s3 = tensor.splat %k3[%n] : tensor<?xi32>
  %j = arith.addi %i, %s3 : tensor<?xi32>
  %0 = kv.write at(%j : tensor<?xi32>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// SX10: 0 + d becomes d, which has to cover the dimension, where the sizes show
// that it does. Otherwise the destination becomes a box: d is tested, as 0 + d
// was.
// CHECK-LABEL: func @zero_offset
// CHECK-SAME:    %[[S:[^:]*]]: tensor<5xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<5xi64>)
// CHECK-NEXT:      put %{{.*}} into %{{.*}} : tensor<16x8xf32> map(#[[ROWS]])
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<5xi64>)
// CHECK-NEXT:      put %{{.*}} into %{{.*}} : tensor<16x?xf32> box map(#[[ROWS]])
func.func @zero_offset(%s: tensor<5xi64>, %v: tensor<5x8xf32>, %c: tensor<16x8xf32>, %e: tensor<16x?xf32>) -> (tensor<16x8xf32>, tensor<16x?xf32>) {
  %z = arith.constant dense<0> : tensor<5xi64>
  %0 = kv.write at(%s, %z : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x8xf32> into %c : tensor<16x8xf32> map(affine_map<(t, s, z, d) -> (s, z + d)>)
  %1 = kv.write at(%s, %z : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x8xf32> into %e : tensor<16x?xf32> map(affine_map<(t, s, z, d) -> (s, z + d)>)
  return %0, %1 : tensor<16x8xf32>, tensor<16x?xf32>
}

// A box would not ask any more that h covers its dimension, so the indices stay,
// and the mask with them.
// CHECK-LABEL: func @no_box
// CHECK-SAME:    %[[S:[^:]*]]: tensor<5xi64>, %[[M:[^:]*]]: tensor<5xi1>
// CHECK:         %[[Z:.*]] = arith.constant dense<0>
// CHECK-NEXT:    kv.write at(%[[S]], %[[Z]] : tensor<5xi64>, tensor<5xi64>) mask(%[[M]] : tensor<5xi1>)
// CHECK-NEXT:      put %{{.*}} into %{{.*}} : tensor<16x?x?xf32> map(#[[KEPT]])
func.func @no_box(%s: tensor<5xi64>, %m: tensor<5xi1>, %v: tensor<5x4x8xf32>, %c: tensor<16x?x?xf32>) -> tensor<16x?x?xf32> {
  %z = arith.constant dense<0> : tensor<5xi64>
  %0 = kv.write at(%s, %z : tensor<5xi64>, tensor<5xi64>) mask(%m : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x4x8xf32> into %c : tensor<16x?x?xf32> map(affine_map<(t, s, z, h, d) -> (s, h, z + d)>)
  return %0 : tensor<16x?x?xf32>
}

// Nor would one that is not needed: d mod 16 is d, but stays as it is.
// CHECK-LABEL: func @kept_remainder
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      map(#[[REMAINDER]])
func.func @kept_remainder(%s: tensor<5xi64>, %v: tensor<5x4x8xf32>, %c: tensor<16x?x?xf32>) -> tensor<16x?x?xf32> {
  %0 = kv.write at(%s : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x4x8xf32> into %c : tensor<16x?x?xf32> map(affine_map<(t, s, h, d) -> (s, h, d mod 16)>)
  return %0 : tensor<16x?x?xf32>
}

// p - q + d would be d, and there is no box.
// CHECK-LABEL: func @equal_operands
// CHECK-SAME:    %[[S:[^:]*]]: tensor<5xi64>
// CHECK-NEXT:    kv.write at(%[[S]], %[[S]] : tensor<5xi64>, tensor<5xi64>)
func.func @equal_operands(%s: tensor<5xi64>, %v: tensor<5x4x8xf32>, %c: tensor<16x?x?xf32>) -> tensor<16x?x?xf32> {
  %0 = kv.write at(%s, %s : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x4x8xf32> into %c : tensor<16x?x?xf32> map(affine_map<(t, p, q, h, d) -> (p, h, p - q + d)>)
  return %0 : tensor<16x?x?xf32>
}
