// Where the layouts are known nothing is tested: no branch and no arithmetic in host
// code, no pointer and no stride taken out of a buffer, and one version of the write.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{assume-disjoint},canonicalize)' --split-input-file \
// RUN:   | FileCheck %s --implicit-check-not=scf. --implicit-check-not=arith. --implicit-check-not=cf. \
// RUN:   --implicit-check-not=memref.extract --implicit-check-not=memref.reinterpret_cast
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{assume-disjoint count-branches})' --split-input-file \
// RUN:   | FileCheck %s --check-prefix=COUNT

// K and V side by side in the pages of one pool: apart, and aligned as the pool is.

// CHECK-LABEL: func.func @pool(
// CHECK:         kv.write {{.*}} disjoint
// CHECK-NEXT:      into %{{.*}} access(8)
// CHECK-NEXT:      into %{{.*}} access(8)
// CHECK-NEXT:    return
// COUNT:       memref.global @kvfuse_branches : memref<1xi64>
!pool = memref<64x2x16x4x64xbf16>
!first = memref<64x16x4x64xbf16, strided<[8192, 256, 64, 1]>>
!second = memref<64x16x4x64xbf16, strided<[8192, 256, 64, 1], offset: 4096>>
!rows = memref<7x4x64xbf16>
#paged = affine_map<(t, s, h, d) -> (s floordiv 16, s mod 16, h, d)>
func.func @pool(%s: memref<7xi64>, %k: !rows, %v: !rows, %pool: !pool) {
  %from_k = memref.assume_alignment %k, 16 : !rows
  %from_v = memref.assume_alignment %v, 16 : !rows
  %to = memref.assume_alignment %pool, 64 : !pool
  %kc = memref.subview %to[0, 0, 0, 0, 0] [64, 1, 16, 4, 64] [1, 1, 1, 1, 1] : !pool to !first
  %again = memref.assume_alignment %pool, 64 : !pool
  %vc = memref.subview %again[0, 1, 0, 0, 0] [64, 1, 16, 4, 64] [1, 1, 1, 1, 1] : !pool to !second
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %from_k : !rows into %kc : !first map(#paged)
    put %from_v : !rows into %vc : !second map(#paged)
  return
}

// -----

// Packed K and V: the columns of one row, and with them the second one, start 24
// bytes in: 8 bytes at a time.

// CHECK-LABEL: func.func @packed(
// CHECK:         kv.write {{.*}} disjoint
// CHECK-NEXT:      into %{{.*}} access(4)
// CHECK-NEXT:      into %{{.*}} access(4)
// CHECK-NEXT:    return
// COUNT:       memref.global @kvfuse_branches : memref<1xi64>
!cache = memref<64x24xbf16>
!left = memref<64x12xbf16, strided<[24, 1]>>
!right = memref<64x12xbf16, strided<[24, 1], offset: 12>>
!row = memref<7x12xbf16>
func.func @packed(%s: memref<7xi64>, %k: !row, %v: !row, %cache: !cache) {
  %from_k = memref.assume_alignment %k, 16 : !row
  %from_v = memref.assume_alignment %v, 16 : !row
  %to = memref.assume_alignment %cache, 16 : !cache
  %kc = memref.subview %to[0, 0] [64, 12] [1, 1] : !cache to !left
  %vc = memref.subview %to[0, 12] [64, 12] [1, 1] : !cache to !right
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %from_k : !row into %kc : !left map(affine_map<(t, s, d) -> (s, d)>)
    put %from_v : !row into %vc : !right map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// A dimension of size 1 may have any stride.

// CHECK-LABEL: func.func @one_head(
// CHECK:         access(8)
// CHECK-NEXT:    return
// COUNT:       memref.global @kvfuse_branches : memref<1xi64>
!one_head = memref<?x16x1x8xbf16, strided<[128, 8, 7, 1]>>
func.func @one_head(%s: memref<7xi64>, %v: memref<7x1x8xbf16>, %c: !one_head) {
  %from = memref.assume_alignment %v, 16 : memref<7x1x8xbf16>
  %to = memref.assume_alignment %c, 16 : !one_head
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %from : memref<7x1x8xbf16> into %to : !one_head
    map(affine_map<(t, s, h, d) -> (s floordiv 16, s mod 16, h, d)>)
  return
}
