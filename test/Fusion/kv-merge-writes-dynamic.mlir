// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-merge-writes)' --remark-policy=all --remarks-filter=kvfuse 2> %t | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=REMARK --implicit-check-not=remark:
// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-merge-writes{only-proven=true})' --remark-policy=all --remarks-filter=kvfuse --verify-diagnostics | FileCheck %s --check-prefix=PROVEN

// REMARK: remark: [Missed] dest-alias {{.*}} Function=same

// Whether these overlap is for the caller's numbers to say: such writes are one
// that is not `disjoint`, or stay apart with only-proven.

// Layers of one pool.

// CHECK-LABEL:  func.func @layers(
// CHECK:          kv.write {{.*}} out_of_bounds(trap){{$}}
// CHECK-COUNT-2:  put
// CHECK-NOT:      kv.write
// PROVEN-LABEL: func.func @layers(
// PROVEN-COUNT-2: kv.write
func.func @layers(%s: memref<?xi64>, %v: memref<?x8xf32>, %pool: memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>>, %i: index, %j: index, %rows: index) {
  %k = memref.subview %pool[%i, 0, 0] [1, %rows, 8] [1, 1, 1] : memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
  %w = memref.subview %pool[%j, 0, 0] [1, %rows, 8] [1, 1, 1] : memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %k : memref<?x8xf32, strided<[?, ?], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{two destinations are not known to be disjoint: strides [?, ?] at offset ?, and strides [?, ?] at offset ?}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %w : memref<?x8xf32, strided<[?, ?], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Values in a part of the buffer that is known at run time.

// CHECK-LABEL:  func.func @values(
// CHECK:          kv.write {{.*}} out_of_bounds(trap){{$}}
// CHECK-COUNT-2:  put
// PROVEN-LABEL: func.func @values(
// PROVEN-COUNT-2: kv.write
func.func @values(%s: memref<4xi64>, %v: memref<4x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %n: index) {
  %cache = memref.subview %a[0, 0] [32, 8] [1, 1] : memref<?x8xf32> to memref<32x8xf32, strided<[8, 1]>>
  %rows = memref.subview %a[%n, 0] [4, 8] [1, 1] : memref<?x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %cache : memref<32x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{what one write reads is not known to be apart from what the other writes: strides [8, 1] at offset 0, and strides [8, 1] at offset ?}}
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : memref<4x8xf32, strided<[8, 1], offset: ?>> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// A buffer of which it is not known where it comes from; with it, a pair that
// is proven is not `disjoint` either.

// CHECK-LABEL:  func.func @unknown(
// CHECK:          kv.write {{.*}} out_of_bounds(trap){{$}}
// CHECK-COUNT-3:  put
// PROVEN-LABEL: func.func @unknown(
// PROVEN:         kv.write {{.*}} out_of_bounds(trap) disjoint{{$}}
// PROVEN-COUNT-2: put
// PROVEN:         kv.write
func.func @unknown(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>) {
  %other = "unknown.buffer"() : () -> memref<?x8xf32>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{dest-alias}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %other : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Of one memref for two destinations a test would say nothing: they stay apart.
// A run that holds a write of several destinations, one after the other, does
// not make them `disjoint`.

// CHECK-LABEL:  func.func @same(
// CHECK-COUNT-2:  kv.write
// CHECK-LABEL:  func.func @in_order(
// CHECK:          kv.write {{.*}} out_of_bounds(trap){{$}}
// CHECK-COUNT-3:  put
// PROVEN-LABEL: func.func @in_order(
func.func @same(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x?x8xf32> map(affine_map<(t, s, d) -> (s floordiv 4, s mod 4, d)>)
  // expected-remark @below {{dest-alias}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x?x8xf32> map(affine_map<(t, s, d) -> (s floordiv 8, s mod 8, d)>)
  return
}
func.func @in_order(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
