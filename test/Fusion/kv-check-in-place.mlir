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
