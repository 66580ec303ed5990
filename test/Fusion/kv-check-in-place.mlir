// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-check-in-place)' | FileCheck %s

// Results that are an argument are dropped, of public functions and of calls;
// what else is returned stays.

// CHECK:       func.func @write(%[[C:.*]]: memref<?x8xf32>, %[[S:.*]]: memref<?xi64>, %[[V:.*]]: memref<?x8xf32>) {
// CHECK:         kv.write
// CHECK:         return{{$}}
// CHECK:       func.func @caller(%[[C:.*]]: memref<?x8xf32>, %[[S:.*]]: memref<?xi64>, %[[V:.*]]: memref<?x8xf32>) -> index {
// CHECK:         call @write(%[[C]], %[[S]], %[[V]]) : (memref<?x8xf32>, memref<?xi64>, memref<?x8xf32>) -> ()
// CHECK:         return %{{.*}} : index
func.func @write(%c: memref<?x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) -> memref<?x8xf32> {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %c : memref<?x8xf32>
}
func.func @caller(%c: memref<?x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) -> (memref<?x8xf32>, index) {
  %c0 = arith.constant 0 : index
  %0 = call @write(%c, %s, %v) : (memref<?x8xf32>, memref<?xi64>, memref<?x8xf32>) -> memref<?x8xf32>
  %n = memref.dim %c, %c0 : memref<?x8xf32>
  return %0, %n : memref<?x8xf32>, index
}

// -----

// A conditional write gives back its cache from both branches.

// CHECK:       func.func @branch(%[[B:.*]]: i1, %[[C:.*]]: memref<?x8xf32>, %{{.*}}) {
// CHECK-NEXT:    scf.if %[[B]] {
// CHECK-NEXT:      func.call @write
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @write(%c: memref<?x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) -> memref<?x8xf32> {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %c : memref<?x8xf32>
}
func.func @branch(%b: i1, %c: memref<?x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) -> memref<?x8xf32> {
  %r = scf.if %b -> memref<?x8xf32> {
    %0 = func.call @write(%c, %s, %v) : (memref<?x8xf32>, memref<?xi64>, memref<?x8xf32>) -> memref<?x8xf32>
    scf.yield %0 : memref<?x8xf32>
  } else {
    scf.yield %c : memref<?x8xf32>
  }
  return %r : memref<?x8xf32>
}

// -----

// A view of an argument is in place, copies between other buffers are allowed.

// CHECK-LABEL: func.func @view(
// CHECK:         memref.subview
// CHECK:         kv.write
// CHECK:         memref.copy
func.func @view(%c: memref<32x8xf32>, %s: memref<?xi64>, %v: memref<4x8xf32>, %w: memref<4x8xf32>) {
  %view = memref.subview %c[0, 0] [16, 8] [1, 1] : memref<32x8xf32> to memref<16x8xf32, strided<[8, 1]>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %view : memref<16x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  memref.copy %w, %v : memref<4x8xf32> to memref<4x8xf32>
  return
}

// -----

// A slice of a pool that was written in place is copied to itself: no copy at
// all, also where the sizes of the two are computed apart.

// CHECK-LABEL: func.func @pool(
// CHECK-SAME:      %[[POOL:.*]]: memref<?x2x?x8xf32>, %{{.*}}: memref<?x8xf32>, %{{.*}}: memref<?xi64>, %[[LAYER:.*]]: index) {
// CHECK-NOT:     memref.copy
// CHECK:         %[[K:.+]] = memref.subview %[[POOL]][%[[LAYER]], 0, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      into %[[K]]
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @pool(%pool: memref<?x2x?x8xf32>, %v: memref<?x8xf32>, %s: memref<?xi64>, %layer: index) -> memref<?x2x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %pool, %c2 : memref<?x2x?x8xf32>
  %k = memref.subview %pool[%layer, 0, 0, 0] [1, 1, %n, 8] [1, 1, 1, 1] : memref<?x2x?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %k : memref<?x8xf32, strided<[8, 1], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  %m = memref.dim %k, %c0 : memref<?x8xf32, strided<[8, 1], offset: ?>>
  %again = memref.subview %pool[%layer, 0, 0, 0] [1, 1, %m, 8] [1, 1, 1, 1] : memref<?x2x?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  memref.copy %k, %again : memref<?x8xf32, strided<[8, 1], offset: ?>> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  return %pool : memref<?x2x?x8xf32>
}

// -----

// A loop that hands on the cache it got.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:      %[[C:.*]]: memref<?x8xf32>, %{{.*}}: memref<?x8xf32>, %{{.*}}: memref<?xi64>, %{{.*}}: index) {
// CHECK:         scf.for
// CHECK-NOT:       iter_args
// CHECK:           into %[[C]]
// CHECK:         return
func.func @loop(%c: memref<?x8xf32>, %v: memref<?x8xf32>, %s: memref<?xi64>, %n: index) -> memref<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c) -> memref<?x8xf32> {
    kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : memref<?x8xf32> into %x : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %x : memref<?x8xf32>
  }
  return %0 : memref<?x8xf32>
}
