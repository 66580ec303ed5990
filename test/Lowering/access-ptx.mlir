// RUN: kvfuse-compile %s --target=sm_90 --emit=ptx | FileCheck %s

// 16 bytes at a time, and half of that where the cache has half the width. A slot of
// 8 bytes is one load. Both are issued before anything is compared with the slot; of
// two tokens, before anything at all. Where K and V are alike, nothing branches on
// the number of the thread.

// CHECK-LABEL: .entry kv_write(
// CHECK:         ld.global.v4.b32
// CHECK-NOT:     bra
// CHECK:         ld.global.b64
// CHECK-NOT:     ld.
// CHECK:         bra
// CHECK-NOT:     .local
// CHECK:         st.global.v4.b32
// CHECK-NOT:     st.

// CHECK-LABEL: .entry kv_write_0(
// CHECK:         ld.global.v4.b32
// CHECK-NOT:     bra
// CHECK:         ld.global.b64
// CHECK-NOT:     bra
// CHECK:         ld.global.v4.b32
// CHECK-NOT:     bra
// CHECK:         ld.global.b64
// CHECK:         bra
// CHECK-NOT:     .local
// CHECK:         st.global.v4.b32
// CHECK:         st.global.v4.b32

// CHECK-LABEL: .entry kv_write_1(
// CHECK:         ld.global.v4.b32
// CHECK-NOT:     bra
// CHECK:         ld.global.b64
// CHECK:         bra
// CHECK-NOT:     st.global.b8
// CHECK:         st.global.v4.b16

// CHECK-LABEL: .entry kv_write_3(
// CHECK:         ld.global.v4.b32
// CHECK:         ld.global.v4.b32
// CHECK-NOT:     bra
// CHECK:         ld.global.b64
// CHECK:         bra
// CHECK:         st.global.v4.b32

// CHECK-LABEL: .entry kv_write_5(
// CHECK-NOT:     bra
// CHECK:         selp.b64
// CHECK-NOT:     bra
// CHECK:         ld.global.v4.b32
// CHECK-NOT:     bra
// CHECK:         ld.global.b64
// CHECK:         bra
// CHECK:         st.global.v4.b32
// CHECK-NOT:     st.
// CHECK-LABEL: .entry kv_write_6(

module {
module @kvfuse {
func.func @copy(%s: memref<?xi64>, %v: memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>,
                %c: memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>
        into %c : memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>> access(8)
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}
func.func @cast(%s: memref<?xi64>, %v: memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>,
                %c: memref<?x4x32x128xf8E4M3FN, strided<[?, ?, ?, 1], offset: ?>>, %scale: f32) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>
        into %c : memref<?x4x32x128xf8E4M3FN, strided<[?, ?, ?, 1], offset: ?>> access(8)
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
    ^bb0(%x: bf16):
      %wide = arith.extf %x : bf16 to f32
      %scaled = arith.mulf %wide, %scale : f32
      %y = kv.cast %scaled saturating : f32 to f8E4M3FN
      kv.yield %y : f8E4M3FN
    }
  return
}
func.func @wide(%s: memref<?xi64>, %v: memref<?x64xf32, strided<[?, 1], offset: ?>>,
                %c: memref<?x64xbf16, strided<[?, 1], offset: ?>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x64xf32, strided<[?, 1], offset: ?>>
        into %c : memref<?x64xbf16, strided<[?, 1], offset: ?>> access(8)
        map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to bf16
      kv.yield %y : bf16
    }
  return
}
func.func @both(%s: memref<?xi64>,
                %k: memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>, %v: memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>,
                %kc: memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, %vc: memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip) disjoint
    put %k : memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>
        into %kc : memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>> access(8)
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
    put %v : memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>>
        into %vc : memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>> access(8)
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}
}
}
