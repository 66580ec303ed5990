// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-merge-writes)' | FileCheck %s

// Parts of one buffer that have no element in common are written at once. The
// functions that end with an underscore are the same but for one number, and
// stay apart.

// K and V of a pool, at places that are computed.

// CHECK-LABEL: func.func @slices(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
func.func @slices(%s: memref<?xi64>, %v: memref<?x8xf32>, %pool: memref<?x2x?x8xf32, strided<[?, ?, ?, ?], offset: ?>>, %layer: index, %rows: index) {
  %k = memref.subview %pool[%layer, 0, 0, 0] [1, 1, %rows, 8] [1, 1, 1, 1] : memref<?x2x?x8xf32, strided<[?, ?, ?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
  %w = memref.subview %pool[%layer, 1, 0, 0] [1, 1, %rows, 8] [1, 1, 1, 1] : memref<?x2x?x8xf32, strided<[?, ?, ?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %k : memref<?x8xf32, strided<[?, ?], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %w : memref<?x8xf32, strided<[?, ?], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Slices one behind the other, seen by upstream's value bounds.

// CHECK-LABEL: func.func @computed(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @computed_(
// CHECK-COUNT-2: kv.write
func.func @computed(%s: memref<?xi64>, %v: memref<?x8xf32>, %pool: memref<?x8xf32>, %first: index) {
  %next = affine.apply affine_map<(i) -> (i + 16)>(%first)
  %a = memref.subview %pool[%first, 0] [16, 8] [1, 1] : memref<?x8xf32> to memref<16x8xf32, strided<[8, 1], offset: ?>>
  %b = memref.subview %pool[%next, 0] [16, 8] [1, 1] : memref<?x8xf32> to memref<16x8xf32, strided<[8, 1], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<16x8xf32, strided<[8, 1], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<16x8xf32, strided<[8, 1], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
func.func @computed_(%s: memref<?xi64>, %v: memref<?x8xf32>, %pool: memref<?x8xf32>, %first: index) {
  %next = affine.apply affine_map<(i) -> (i + 15)>(%first)
  %a = memref.subview %pool[%first, 0] [16, 8] [1, 1] : memref<?x8xf32> to memref<16x8xf32, strided<[8, 1], offset: ?>>
  %b = memref.subview %pool[%next, 0] [16, 8] [1, 1] : memref<?x8xf32> to memref<16x8xf32, strided<[8, 1], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<16x8xf32, strided<[8, 1], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<16x8xf32, strided<[8, 1], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Views of other shapes: pages of 2 * 4 * 8 elements, K in the first half of
// each and V in the second. Those of the second function are 8 elements longer.

// CHECK-LABEL: func.func @interleaved(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @interleaved_(
// CHECK-COUNT-2: kv.write
func.func @interleaved(%s: memref<?xi64>, %v: memref<?x8xf32>, %w: memref<?x16xf32>, %pool: memref<1024xf32>) {
  %k = memref.reinterpret_cast %pool to offset: [0], sizes: [16, 4, 8], strides: [64, 8, 1] : memref<1024xf32> to memref<16x4x8xf32, strided<[64, 8, 1]>>
  %u = memref.reinterpret_cast %pool to offset: [32], sizes: [16, 2, 16], strides: [64, 16, 1] : memref<1024xf32> to memref<16x2x16xf32, strided<[64, 16, 1], offset: 32>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %k : memref<16x4x8xf32, strided<[64, 8, 1]>> map(affine_map<(t, s, d) -> (s floordiv 4, s mod 4, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x16xf32> into %u : memref<16x2x16xf32, strided<[64, 16, 1], offset: 32>> map(affine_map<(t, s, d) -> (s floordiv 2, s mod 2, d)>)
  return
}
func.func @interleaved_(%s: memref<?xi64>, %v: memref<?x8xf32>, %w: memref<?x8xf32>, %pool: memref<1024xf32>) {
  %k = memref.reinterpret_cast %pool to offset: [0], sizes: [16, 4, 8], strides: [64, 8, 1] : memref<1024xf32> to memref<16x4x8xf32, strided<[64, 8, 1]>>
  %u = memref.reinterpret_cast %pool to offset: [32], sizes: [16, 5, 8], strides: [64, 8, 1] : memref<1024xf32> to memref<16x5x8xf32, strided<[64, 8, 1], offset: 32>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %k : memref<16x4x8xf32, strided<[64, 8, 1]>> map(affine_map<(t, s, d) -> (s floordiv 4, s mod 4, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x8xf32> into %u : memref<16x5x8xf32, strided<[64, 8, 1], offset: 32>> map(affine_map<(t, s, d) -> (s floordiv 5, s mod 5, d)>)
  return
}

// -----

// One memref as two destinations: a selector, and columns of a packed row.

// CHECK-LABEL: func.func @selector(
// CHECK-COUNT-1: kv.write
// CHECK:           put %arg1 : memref<?x8xf32> into %arg2
// CHECK-NEXT:      put %arg1 : memref<?x8xf32> into %arg2
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @columns(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @columns_(
// CHECK-COUNT-2: kv.write
func.func @selector(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x2x?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x2x?x8xf32> map(affine_map<(t, s, d) -> (s floordiv 32, 0, s mod 32, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x2x?x8xf32> map(affine_map<(t, s, d) -> (s floordiv 32, 1, s mod 32, d)>)
  return
}
func.func @columns(%s: memref<?xi64>, %v: memref<?x512xf32>, %w: memref<?x64xf32>, %c: memref<?x576xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x512xf32> into %c : memref<?x576xf32> box map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x64xf32> into %c : memref<?x576xf32> map(affine_map<(t, s, d) -> (s, d + 512)>)
  return
}
func.func @columns_(%s: memref<?xi64>, %v: memref<?x512xf32>, %w: memref<?x64xf32>, %c: memref<?x576xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x512xf32> into %c : memref<?x576xf32> box map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x64xf32> into %c : memref<?x576xf32> map(affine_map<(t, s, d) -> (s, d + 511)>)
  return
}

// -----

// Byte boxes: 64 values of 128 bytes, behind them 64 scales of 4, in a page that
// is seen as one row, and as rows of 33 bytes.

// CHECK-LABEL: func.func @bytes(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @bytes_(
// CHECK-COUNT-2: kv.write
// CHECK-LABEL: func.func @split_bytes(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @split_bytes_(
// CHECK-COUNT-2: kv.write
func.func @bytes(%s: memref<?xi64>, %v: memref<?x128xi8>, %w: memref<?x4xi8>, %c: memref<?x8448xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x128xi8> into %c : memref<?x8448xi8> map(affine_map<(t, s, d) -> (s floordiv 64, (s mod 64) * 128 + d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x4xi8> into %c : memref<?x8448xi8> map(affine_map<(t, s, e) -> (s floordiv 64, (s mod 64) * 4 + e + 8192)>)
  return
}
func.func @bytes_(%s: memref<?xi64>, %v: memref<?x128xi8>, %w: memref<?x4xi8>, %c: memref<?x8448xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x128xi8> into %c : memref<?x8448xi8> map(affine_map<(t, s, d) -> (s floordiv 64, (s mod 64) * 128 + d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x4xi8> into %c : memref<?x8448xi8> map(affine_map<(t, s, e) -> (s floordiv 64, (s mod 64) * 4 + e + 8191)>)
  return
}
func.func @split_bytes(%s: memref<?xi64>, %v: memref<?x128xi8>, %w: memref<?x4xi8>, %c: memref<?x64x132xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x128xi8> into %c : memref<?x64x132xi8> map(affine_map<(t, s, d) -> (s floordiv 64, ((s mod 64) * 128 + d) floordiv 132, ((s mod 64) * 128 + d) mod 132)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x4xi8> into %c : memref<?x64x132xi8> map(affine_map<(t, s, e) -> (s floordiv 64, ((s mod 64) * 4 + e + 8192) floordiv 132, ((s mod 64) * 4 + e + 8192) mod 132)>)
  return
}
func.func @split_bytes_(%s: memref<?xi64>, %v: memref<?x128xi8>, %w: memref<?x4xi8>, %c: memref<?x64x132xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x128xi8> into %c : memref<?x64x132xi8> map(affine_map<(t, s, d) -> (s floordiv 64, ((s mod 64) * 128 + d) floordiv 132, ((s mod 64) * 128 + d) mod 132)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x4xi8> into %c : memref<?x64x132xi8> map(affine_map<(t, s, e) -> (s floordiv 64, ((s mod 64) * 4 + e + 8191) floordiv 132, ((s mod 64) * 4 + e + 8191) mod 132)>)
  return
}

// -----

// Even and odd rows, if negative ones are errors. A negative row that wraps may
// be any row: the number of rows need not be even.

// CHECK-LABEL: func.func @parity(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @parity_(
// CHECK-COUNT-2: kv.write
func.func @parity(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s * 2, d)>)
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s * 2 + 1, d)>)
  return
}
func.func @parity_(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s * 2, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s * 2 + 1, d)>)
  return
}

// -----

// Values that lie in the buffer, outside of what is written.

// CHECK-LABEL: func.func @values(
// CHECK-COUNT-1: kv.write
// CHECK-NOT:     kv.write
func.func @values(%s: memref<4xi64>, %v: memref<4x8xf32>, %a: memref<36x8xf32>, %b: memref<?x8xf32>) {
  %cache = memref.subview %a[0, 0] [32, 8] [1, 1] : memref<36x8xf32> to memref<32x8xf32, strided<[8, 1]>>
  %rows = memref.subview %a[32, 0] [4, 8] [1, 1] : memref<36x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 256>>
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %cache : memref<32x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : memref<4x8xf32, strided<[8, 1], offset: 256>> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
