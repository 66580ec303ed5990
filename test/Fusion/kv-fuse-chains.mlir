// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// Page and offset, each computed by itself, and the cast of the values.

// CHECK-DAG: #[[M0:.+]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>
// CHECK-LABEL: func.func @pages(
// CHECK-SAME:    %[[S:.*]]: tensor<?xi64>, %[[V:.*]]: tensor<?x4x8xbf16>, %[[C:.*]]: tensor<?x4x32x8xf8E5M2>)
// CHECK-NEXT:    %[[W:.*]] = kv.write at(%[[S]] : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put %[[V]] : tensor<?x4x8xbf16> into %[[C]] : tensor<?x4x32x8xf8E5M2>
// CHECK-SAME:      map(#[[M0]]) {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: bf16):
// CHECK-NEXT:        %[[X:.*]] = kv.cast %[[E]] : bf16 to f8E5M2
// CHECK-NEXT:        kv.yield %[[X]] : f8E5M2
// CHECK:         return %[[W]]
func.func @pages(%s: tensor<?xi64>, %v: tensor<?x4x8xbf16>, %c: tensor<?x4x32x8xf8E5M2>) -> tensor<?x4x32x8xf8E5M2> {
  %p = kv.apply affine_map<(s) -> (s floordiv 32)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 32)>(%s) : tensor<?xi64>
  %x = kv.cast %v : tensor<?x4x8xbf16> to tensor<?x4x8xf8E5M2>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x4x8xf8E5M2> into %c : tensor<?x4x32x8xf8E5M2>
    map(affine_map<(t, p, o, h, d) -> (p, h, o, d)>)
  return %0 : tensor<?x4x32x8xf8E5M2>
}

// -----

// SX1: i32 slots stay i32, the write widens them itself. Arithmetic is composed
// and simplified: (s floordiv 32) * 32 + s mod 32 is s.

// CHECK-DAG: #[[M0:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @i32(
// CHECK-SAME:    %[[S:.*]]: tensor<?xi32>
// CHECK-NOT:     arith.
// CHECK-NOT:     kv.apply
// CHECK:         kv.write at(%[[S]] : tensor<?xi32>)
// CHECK-NEXT:      put {{.*}} map(#[[M0]])
func.func @i32(%s: tensor<?xi32>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = arith.extsi %s : tensor<?xi32> to tensor<?xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 32)>(%w) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 32)>(%w) : tensor<?xi64>
  %f = kv.apply affine_map<(p, o) -> (p * 32 + o)>(%p, %o) : tensor<?xi64>
  %0 = kv.write at(%f : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

// SM6: what has other users stays for them; what has none goes.

// CHECK-DAG: #[[M0:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-DAG: #[[M1:.+]] = affine_map<(d0, d1, d2) -> (d1 floordiv 4, d1 mod 4, d2)>
// CHECK-LABEL: func.func @shared(
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[V:[^:]*]]: tensor<?x8xf32>
// CHECK-NEXT:    %[[P:.*]] = kv.apply #[[M0]](%[[S]])
// CHECK-NEXT:    %[[X:.*]] = kv.cast %[[V]]
// CHECK-NOT:     kv.apply
// CHECK:         %[[W:.*]] = kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put %[[V]] :
// CHECK-SAME:      map(#[[M1]])
// CHECK:         return %[[W]], %[[P]], %[[X]]
func.func @shared(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xbf16>) -> (tensor<?x4x8xbf16>, tensor<?xi64>, tensor<?x8xbf16>) {
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %x = kv.cast %v : tensor<?x8xf32> to tensor<?x8xbf16>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xbf16> into %c : tensor<?x4x8xbf16>
    map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0, %p, %x : tensor<?x4x8xbf16>, tensor<?xi64>, tensor<?x8xbf16>
}

// -----

// Two casts are two roundings, in the same order.

// CHECK-LABEL: func.func @two_casts(
// CHECK:         ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:      %[[A:.*]] = kv.cast %[[E]] : f32 to bf16
// CHECK-NEXT:      %[[B:.*]] = kv.cast %[[A]] saturating : bf16 to f8E4M3FN
// CHECK-NEXT:      kv.yield %[[B]] : f8E4M3FN
func.func @two_casts(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf8E4M3FN>) -> tensor<?x8xf8E4M3FN> {
  %a = kv.cast %v : tensor<?x8xf32> to tensor<?x8xbf16>
  %b = kv.cast %a saturating : tensor<?x8xbf16> to tensor<?x8xf8E4M3FN>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %b : tensor<?x8xf8E4M3FN> into %c : tensor<?x8xf8E4M3FN> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf8E4M3FN>
}

// -----

// SX4, SX6: comparisons that make the mask go to the region `where`.

// CHECK-LABEL: func.func @mask(
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK-NOT:     arith.
// CHECK:         kv.write at(%[[S]] : tensor<?xi64>) where {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: i64):
// CHECK-NEXT:        %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT:        %[[GE:.*]] = arith.cmpi sge, %[[E]], %[[ZERO]] : i64
// CHECK-NEXT:        %[[PAD:.*]] = arith.constant 7 : i64
// CHECK-NEXT:        %[[NE:.*]] = arith.cmpi ne, %[[E]], %[[PAD]] : i64
// CHECK-NEXT:        %[[AND:.*]] = arith.andi %[[GE]], %[[NE]] : i1
// CHECK-NEXT:        kv.yield %[[AND]] : i1
func.func @mask(%s: tensor<?xi64>, %n: index, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : i64
  %c7 = arith.constant 7 : i64
  %zero = tensor.splat %c0[%n] : tensor<?xi64>
  %pad = tensor.splat %c7[%n] : tensor<?xi64>
  %ge = arith.cmpi sge, %s, %zero : tensor<?xi64>
  %ne = arith.cmpi ne, %s, %pad : tensor<?xi64>
  %m = arith.andi %ge, %ne : tensor<?xi1>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) mask(%m : tensor<?xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32>
    map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// -----

// A mask that comes from elsewhere stays an operand, and so does one beside a
// region `where`. The region's slots are computed from the new ones.

// CHECK-DAG: #[[M0:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-DAG: #[[M1:.+]] = affine_map<(d0, d1, d2) -> (d1 floordiv 4, d2)>
// CHECK-LABEL: func.func @where(
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[M:[^:]*]]: tensor<?xi1>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>) mask(%[[M]] : tensor<?xi1>) where {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: i64):
// CHECK-NEXT:        %[[P:.*]] = kv.apply #[[M0]](%[[E]]) : i64
// CHECK-NEXT:        %[[C3:.*]] = arith.constant 3 : i64
// CHECK-NEXT:        %[[NE:.*]] = arith.cmpi ne, %[[P]], %[[C3]] : i64
// CHECK-NEXT:        kv.yield %[[NE]] : i1
// CHECK:           map(#[[M1]])
func.func @where(%s: tensor<?xi64>, %m: tensor<?xi1>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %0 = kv.write at(%p : tensor<?xi64>) mask(%m : tensor<?xi1>) where {
    ^bb0(%e: i64):
      %c3 = arith.constant 3 : i64
      %ne = arith.cmpi ne, %e, %c3 : i64
      kv.yield %ne : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, p, d) -> (p, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

// A constant index is a constant of the map. Where all are, one stays, for its
// shape is the grid; what computes the values is composed all the same.

// CHECK-DAG: #[[M0:.+]] = affine_map<(d0, d1, d2) -> (1, d1, d2)>
// CHECK-DAG: #[[M1:.+]] = affine_map<(d0, d1, d2) -> (1, d0, d2)>
// CHECK-LABEL: func.func @constant(
// CHECK-SAME:    %[[S:[^:]*]]: tensor<4xi64>, %[[V:[^:]*]]: tensor<4x8xf32>
// CHECK:         %[[K:.*]] = arith.constant dense<1> : tensor<4xi64>
// CHECK:         kv.write at(%[[S]] : tensor<4xi64>)
// CHECK-NEXT:      put {{.*}} map(#[[M0]])
// CHECK:         kv.write at(%[[K]] : tensor<4xi64>)
// CHECK-NEXT:      put %[[V]] : tensor<4x8xf32> into %{{.*}} : tensor<2x?x8xbf16>
// CHECK-SAME:      map(#[[M1]]) {
// CHECK-NEXT:      ^bb0(%{{.*}}: f32):
func.func @constant(%s: tensor<4xi64>, %v: tensor<4x8xf32>, %c: tensor<2x?x8xf32>, %e: tensor<2x?x8xbf16>) -> (tensor<2x?x8xf32>, tensor<2x?x8xbf16>) {
  %one = arith.constant dense<1> : tensor<4xi64>
  %x = kv.cast %v : tensor<4x8xf32> to tensor<4x8xbf16>
  %0 = kv.write at(%one, %s : tensor<4xi64>, tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %c : tensor<2x?x8xf32> map(affine_map<(t, a, s, d) -> (a, s, d)>)
  %1 = kv.write at(%one : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<4x8xbf16> into %e : tensor<2x?x8xbf16> map(affine_map<(t, a, d) -> (a, t, d)>)
  return %0, %1 : tensor<2x?x8xf32>, tensor<2x?x8xbf16>
}

// -----

// Writes on buffers are left as they are, and so is what was refused.

// CHECK-LABEL: func.func @others(
// CHECK:         kv.write at(%{{.*}} : memref<?xi64>)
// CHECK:         %[[P:.*]] = kv.apply
// CHECK:         kv.write at(%[[P]] : tensor<?xi64>)
// CHECK-NEXT:      put {{.*}} attributes {kv.refused = "mixed-division"}
func.func @others(%b: memref<?xi64>, %w: memref<?x8xf32>, %d: memref<?x8xf32>, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  kv.write at(%b : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %0 = kv.write at(%p : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    attributes {kv.refused = "mixed-division"}
  return %0 : tensor<?x8xf32>
}
