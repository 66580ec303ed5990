// The alignment of a view is that of its buffer, plus a distance that is known; where
// it is not, the address is tested.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{assume-disjoint},canonicalize)' --split-input-file | FileCheck %s

// An alignment of the first element is one of an element 6 before it, when that is
// 12 bytes: 4.

// CHECK-LABEL: func.func @back(
// CHECK-NOT:     scf.if
// CHECK:         access(2)
// CHECK-NEXT:    return
!rows = memref<7x16xbf16>
!cache = memref<64x32xbf16>
!part = memref<64x16xbf16, strided<[32, 1], offset: 6>>
!whole = memref<64x16xbf16, strided<[32, 1]>>
func.func @back(%s: memref<7xi64>, %v: !rows, %c: !cache) {
  %from = memref.assume_alignment %v, 16 : !rows
  %part = memref.subview %c[0, 6] [64, 16] [1, 1] : !cache to !part
  %aligned = memref.assume_alignment %part, 16 : !part
  %to = memref.reinterpret_cast %aligned to offset: [0], sizes: [64, 16], strides: [32, 1] : !part to !whole
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %from : !rows into %to : !whole map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// A distance that only the call knows.

// CHECK-LABEL: func.func @column(
// CHECK:         memref.extract_aligned_pointer_as_index
// CHECK:         scf.if
// CHECK:           access(8)
!rows = memref<7x16xbf16>
!cache = memref<64x32xbf16>
!part = memref<64x16xbf16, strided<[32, 1], offset: ?>>
func.func @column(%s: memref<7xi64>, %v: !rows, %c: !cache, %at: index) {
  %from = memref.assume_alignment %v, 16 : !rows
  %aligned = memref.assume_alignment %c, 16 : !cache
  %to = memref.subview %aligned[0, %at] [64, 16] [1, 1] : !cache to !part
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %from : !rows into %to : !part map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// memref.view moves the pointer that offsets count from; here by 2 bytes.

// CHECK-LABEL: func.func @bytes(
// CHECK:         %[[C:.*]] = memref.view
// CHECK:         memref.extract_aligned_pointer_as_index %[[C]]
// CHECK:         scf.if
// CHECK:           access(8)
// CHECK:         } else {
// CHECK:           access(1)
!rows = memref<7x8xbf16>
!cache = memref<64x8xbf16>
func.func @bytes(%s: memref<7xi64>, %v: !rows, %buffer: memref<4096xi8>) {
  %c2 = arith.constant 2 : index
  %from = memref.assume_alignment %v, 16 : !rows
  %aligned = memref.assume_alignment %buffer, 16 : memref<4096xi8>
  %to = memref.view %aligned[%c2][] : memref<4096xi8> to !cache
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %from : !rows into %to : !cache map(affine_map<(t, s, d) -> (s, d)>)
  return
}
