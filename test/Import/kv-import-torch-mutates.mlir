// SM5, in functions that are kv already.

// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-import-torch{mutates=auto})' | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-import-torch{mutates=1,2})' | FileCheck %s --check-prefixes=CHECK,LIST

#flat = affine_map<(t, s, d) -> (s, d)>

// A list names arguments that no write reaches, too: a caller may give up more.

// CHECK-LABEL: func.func @list(
// NONE-SAME:     %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = false}, %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = false}, %{{[^:]+}}: tensor<3x16xbf16>, %{{[^:]+}}: tensor<3xi64>)
// AUTO-SAME:     %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = true}, %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = true}, %{{[^:]+}}: tensor<3x16xbf16>, %{{[^:]+}}: tensor<3xi64>)
// LIST-SAME:     %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = false}, %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = true}, %{{[^:]+}}: tensor<3x16xbf16> {bufferization.writable = true}, %{{[^:]+}}: tensor<3xi64>)
func.func @list(%kc: tensor<8x16xbf16>, %vc: tensor<8x16xbf16>, %rows: tensor<3x16xbf16>, %slots: tensor<3xi64>) -> (tensor<8x16xbf16>, tensor<8x16xbf16>) {
  %0:2 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %kc : tensor<8x16xbf16> map(#flat)
    put %rows : tensor<3x16xbf16> into %vc : tensor<8x16xbf16> map(#flat)
  return %0#0, %0#1 : tensor<8x16xbf16>, tensor<8x16xbf16>
}

// Through earlier writes, casts of types and slices of a pool.

// CHECK-LABEL: func.func @views(
// NONE-SAME:     tensor<2x8x16xbf16> {bufferization.writable = false}, %{{[^:]+}}: tensor<3x16xbf16>,
// AUTO-SAME:     tensor<2x8x16xbf16> {bufferization.writable = true}, %{{[^:]+}}: tensor<3x16xbf16>,
func.func @views(%pool: tensor<2x8x16xbf16>, %rows: tensor<3x16xbf16>, %slots: tensor<3xi64>) -> tensor<2x8x16xbf16> {
  %k = tensor.extract_slice %pool[0, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<2x8x16xbf16> to tensor<8x16xbf16>
  %cast = tensor.cast %k : tensor<8x16xbf16> to tensor<?x16xbf16>
  %0 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %cast : tensor<?x16xbf16> map(#flat)
  %1 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %0 : tensor<?x16xbf16> map(#flat)
  %back = tensor.cast %1 : tensor<?x16xbf16> to tensor<8x16xbf16>
  %2 = tensor.insert_slice %back into %pool[0, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<8x16xbf16> into tensor<2x8x16xbf16>
  %v = tensor.extract_slice %2[1, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<2x8x16xbf16> to tensor<8x16xbf16>
  %3 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %v : tensor<8x16xbf16> map(#flat)
  %4 = tensor.insert_slice %3 into %2[1, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<8x16xbf16> into tensor<2x8x16xbf16>
  return %4 : tensor<2x8x16xbf16>
}

// What the source says stands.

// CHECK-LABEL: func.func @declared(
// CHECK-SAME:    %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = false},
// CHECK-SAME:    %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = true, tf.aliasing_output = 1 : i32}
// CHECK-SAME:    %{{[^:]+}}: tensor<8x16xbf16> {bufferization.writable = true, jax.buffer_donor = true}
// CHECK-SAME:    %{{[^:]+}}: tensor<3x16xbf16> {jax.buffer_donor = true}
func.func @declared(%kc: tensor<8x16xbf16> {bufferization.writable = false}, %vc: tensor<8x16xbf16> {tf.aliasing_output = 1 : i32}, %ic: tensor<8x16xbf16> {jax.buffer_donor = true}, %rows: tensor<3x16xbf16> {jax.buffer_donor = true}, %slots: tensor<3xi64>) -> (tensor<8x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>) {
  %0:3 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %kc : tensor<8x16xbf16> map(#flat)
    put %rows : tensor<3x16xbf16> into %vc : tensor<8x16xbf16> map(#flat)
    put %rows : tensor<3x16xbf16> into %ic : tensor<8x16xbf16> map(#flat)
  return %0#0, %0#1, %0#2 : tensor<8x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>
}

// CHECK-LABEL: func.func @untouched(
// CHECK-NOT:     writable
func.func @untouched(%x: tensor<8x16xbf16>) -> tensor<8x16xbf16> {
  return %x : tensor<8x16xbf16>
}
