// What of a map is computed beforehand and what stays: sums are split, anything
// else that mixes index values with other coordinates keeps its index values.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-decompose-writes)' --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @byte_row
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    %[[P:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 32)>(%[[S]])
// CHECK-NEXT:    %[[O:.*]] = kv.apply affine_map<(d0) -> ((d0 mod 32) * 132)>(%[[S]])
// CHECK-NEXT:    kv.write at(%[[P]], %[[O]] :
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, d2 + d3)>)
func.func @byte_row(%s: tensor<?xi64>, %v: tensor<?x132xi8>, %c: tensor<?x4224xi8>) -> tensor<?x4224xi8> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x132xi8> into %c : tensor<?x4224xi8>
        map(affine_map<(t, s, r) -> (s floordiv 32, (s mod 32) * 132 + r)>)
  return %0 : tensor<?x4224xi8>
}

// Bare index values stay as they are, and are not there twice; an expression that
// two coordinates share is computed once; constants and grid coordinates stay.
// CHECK-LABEL: func.func @shared
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[R:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    %[[P:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 32)>(%[[S]])
// CHECK-NEXT:    %[[Q:.*]] = kv.apply affine_map<(d0, d1) -> (d0 + d1 * 2)>(%[[S]], %[[R]])
// CHECK-NEXT:    kv.write at(%[[S]], %[[P]], %[[Q]] :
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, 1, d0, d3, d2 + d4)>)
func.func @shared(%s: tensor<?xi64>, %r: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x?x2x?x?x?xf32>)
    -> tensor<?x?x2x?x?x?xf32> {
  %0 = kv.write at(%s, %r : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x?x2x?x?x?xf32>
        map(affine_map<(t, s, r, d) -> (s, s floordiv 32, 1, t, s + r * 2, s floordiv 32 + d)>)
  return %0 : tensor<?x?x2x?x?x?xf32>
}

// An index value under a division together with a row coordinate stays, beside
// the same one computed with.
// CHECK-LABEL: func.func @mixed
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi32>, %[[R:[^:]*]]: tensor<?xi32>
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extsi %[[R]] : tensor<?xi32> to tensor<?xi64>
// CHECK-NEXT:    %[[P:.*]] = kv.apply affine_map<(d0) -> (d0 * 16)>(%[[WIDE]])
// CHECK-NEXT:    kv.write at(%[[S]], %[[P]], %[[R]] : tensor<?xi32>, tensor<?xi64>, tensor<?xi32>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3, d4) -> ((d1 + d4) floordiv 4 + d2, d3, d4)>)
func.func @mixed(%s: tensor<?xi32>, %r: tensor<?xi32>, %v: tensor<?x8xf32>, %c: tensor<?x?x8xf32>)
    -> tensor<?x?x8xf32> {
  %0 = kv.write at(%s, %r : tensor<?xi32>, tensor<?xi32>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x?x8xf32>
        map(affine_map<(t, s, r, d) -> ((s + d) floordiv 4 + r * 16, r, d)>)
  return %0 : tensor<?x?x8xf32>
}

// Index values that cancel out stay, too: alone, the row coordinate would have to
// cover the cache exactly (SX10).
// CHECK-LABEL: func.func @cancelled
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2) -> (d1, d1 * 2 + d2 - d1 * 2)>)
func.func @cancelled(%s: tensor<?xi64>, %v: tensor<?x6xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x6xf32> into %c : tensor<?x8xf32>
        map(affine_map<(t, s, d) -> (s, s * 2 + d - s * 2)>)
  return %0 : tensor<?x8xf32>
}

// Index operands that no coordinate uses go, but for one: its shape is the grid.
// CHECK-LABEL: func.func @grid_only
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[R:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2) -> (d0, d2)>)
func.func @grid_only(%s: tensor<?xi64>, %r: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %0 = kv.write at(%s, %r : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, r, d) -> (t, d)>)
  return %0 : tensor<?x8xf32>
}

// A grid of rank 2, values broadcast over heads.
// CHECK-LABEL: func.func @grid
// CHECK-SAME:    %[[S:[^:]*]]: tensor<2x?xi64>
// CHECK-NEXT:    %[[P:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 16)>(%[[S]]) : tensor<2x?xi64>
// CHECK-NEXT:    %[[O:.*]] = kv.apply affine_map<(d0) -> (d0 mod 16)>(%[[S]]) : tensor<2x?xi64>
// CHECK-NEXT:    kv.write at(%[[P]], %[[O]] : tensor<2x?xi64>, tensor<2x?xi64>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d4, d3, d5)>) order(affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>)
func.func @grid(%s: tensor<2x?xi64>, %v: tensor<2x?x8xf32>, %c: tensor<2x?x4x16x8xf32>) -> tensor<2x?x4x16x8xf32> {
  %0 = kv.write at(%s : tensor<2x?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<2x?x8xf32> into %c : tensor<2x?x4x16x8xf32>
        map(affine_map<(b, t, s, h, d) -> (b, s floordiv 16, h, s mod 16, d)>)
        order(affine_map<(b, t, h, d) -> (b, t, d)>)
  return %0 : tensor<2x?x4x16x8xf32>
}

// Operations that do not work on tensors keep their region, and with a region
// 'where' the map, whose index values it shares.
// CHECK-LABEL: func.func @not_elementwise
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>) where {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: i64):
// CHECK-NEXT:      llvm.add %[[I]]
// CHECK:         put {{.*}} map(affine_map<(d0, d1, d2) -> (d1 floordiv 32, d1 mod 32, d2)>) {
// CHECK-NEXT:      ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:        llvm.fneg %[[X]]
func.func @not_elementwise(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x32x8xf32>) -> tensor<?x32x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) where {
    ^bb0(%i: i64):
      %0 = llvm.add %i, %i : i64
      %real = arith.cmpi sge, %0, %i : i64
      kv.yield %real : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x32x8xf32>
        map(affine_map<(t, s, d) -> (s floordiv 32, s mod 32, d)>) {
    ^bb0(%x: f32):
      %y = llvm.fneg %x : f32
      kv.yield %y : f32
    }
  return %0 : tensor<?x32x8xf32>
}
