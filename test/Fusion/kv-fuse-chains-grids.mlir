// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// Index tensors over more dimensions than there are tokens: what no root has
// becomes a row coordinate.

// CHECK-DAG: #[[SELECT:.*]] = affine_map<(d0, d1, d2, d3) -> (1, d1 floordiv 4, d2, d1 mod 4, d3)>
// CHECK-DAG: #[[PAGED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 4, d2, d1 mod 4, d3)>
// CHECK-DAG: #[[HEADS_FIRST:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[BYTES:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 4, d2 + (d1 mod 4) * 8)>
// CHECK-DAG: #[[STRADDLING:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 4, (d2 + (d1 mod 4) * 8) floordiv 12, 0, (d2 + (d1 mod 4) * 8) mod 12)>
// CHECK-DAG: #[[RADIX:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, 1, 1, d3, d2 mod 4, d4)>

// An iota over the heads, and a constant that selects V from a pool of K and V.
// CHECK-LABEL: func @head_iota
// CHECK-SAME:    %[[C:[^:]*]]: tensor<2x?x3x4x8xbf16>, %[[S:[^:]*]]: tensor<?xi64>, %[[V:[^:]*]]: tensor<?x3x8xbf16>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put %[[V]] : tensor<?x3x8xbf16> into %[[C]] : tensor<2x?x3x4x8xbf16> map(#[[SELECT]])
// CHECK-NEXT:    return
func.func @head_iota(%pool: tensor<2x?x3x4x8xbf16>, %s: tensor<?xi64>, %v: tensor<?x3x8xbf16>) -> tensor<2x?x3x4x8xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x3xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %pg = linalg.broadcast ins(%p : tensor<?xi64>) outs(%e : tensor<?x3xi64>) dimensions = [1]
  %of = linalg.broadcast ins(%o : tensor<?xi64>) outs(%e : tensor<?x3xi64>) dimensions = [1]
  %h = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %hd = linalg.broadcast ins(%h : tensor<3xi64>) outs(%e : tensor<?x3xi64>) dimensions = [0]
  %one = arith.constant dense<1> : tensor<1xi64>
  %one0 = tensor.collapse_shape %one [] : tensor<1xi64> into tensor<i64>
  %j = linalg.broadcast ins(%one0 : tensor<i64>) outs(%e : tensor<?x3xi64>) dimensions = [0, 1]
  %0 = kv.write at(%j, %pg, %hd, %of : tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xbf16> into %pool : tensor<2x?x3x4x8xbf16> map(affine_map<(t, k, j, p, h, o, d) -> (j, p, h, o, d)>)
  return %0 : tensor<2x?x3x4x8xbf16>
}

// Pages repeated for each head: the flat grid is one of heads and tokens. The
// rows keep their order, heads first.
// CHECK-LABEL: func @repeat_grid
// CHECK-SAME:    %[[C:[^:]*]]: tensor<?x3x4x8xbf16>, %[[S:[^:]*]]: tensor<?xi64>, %[[K:[^:]*]]: tensor<1x3x?x8xf32>
// CHECK-NEXT:    %[[ROWS:.*]] = tensor.collapse_shape %[[K]] {{.*}} into tensor<3x?x8xf32>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put %[[ROWS]] : tensor<3x?x8xf32> into %[[C]] : tensor<?x3x4x8xbf16>
// CHECK-SAME:      map(#[[PAGED]]) order(#[[HEADS_FIRST]]) {
// CHECK:             kv.cast
func.func @repeat_grid(%c: tensor<?x3x4x8xbf16>, %s: tensor<?xi64>, %k: tensor<1x3x?x8xf32>) -> tensor<?x3x4x8xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<3x?xi64>
  %h = tensor.generate { ^bb0(%i: index): 
    %x = arith.index_cast %i : index to i64
    tensor.yield %x : i64 } : tensor<3xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %pg = linalg.broadcast ins(%p : tensor<?xi64>) outs(%e : tensor<3x?xi64>) dimensions = [0]
  %of = linalg.broadcast ins(%o : tensor<?xi64>) outs(%e : tensor<3x?xi64>) dimensions = [0]
  %hd = linalg.broadcast ins(%h : tensor<3xi64>) outs(%e : tensor<3x?xi64>) dimensions = [1]
  %pg1 = tensor.collapse_shape %pg [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
  %of1 = tensor.collapse_shape %of [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
  %hd1 = tensor.collapse_shape %hd [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
  %kv = tensor.collapse_shape %k [[0, 1, 2], [3]] : tensor<1x3x?x8xf32> into tensor<?x8xf32>
  %kc = kv.cast %kv : tensor<?x8xf32> to tensor<?x8xbf16>
  %0 = kv.write at(%pg1, %hd1, %of1 : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %kc : tensor<?x8xbf16> into %c : tensor<?x3x4x8xbf16> map(affine_map<(t, p, h, o, d) -> (p, h, o, d)>)
  return %0 : tensor<?x3x4x8xbf16>
}

// The address of each byte in a flat buffer, on which pages have 48 bytes: page,
// and column of a row of 8 bytes.
// CHECK-LABEL: func @byte_row
// CHECK-SAME:    %[[C:[^:]*]]: tensor<?x48xi8>, %[[S:[^:]*]]: tensor<?xi64>, %[[K:[^:]*]]: tensor<?x8xi8>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put %[[K]] : tensor<?x8xi8> into %[[C]] : tensor<?x48xi8> map(#[[BYTES]])
// CHECK-NEXT:    return
func.func @byte_row(%buf: tensor<?x48xi8>, %loc: tensor<?xi64>, %k: tensor<?x8xi8>) -> tensor<?x48xi8> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %loc, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x8xi64>
  %pg = kv.apply affine_map<(s) -> (s floordiv 4)>(%loc) : tensor<?xi64>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%loc) : tensor<?xi64>
  %k48 = arith.constant 48 : i64
  %s48 = tensor.splat %k48[%t] : tensor<?xi64>
  %k8 = arith.constant 8 : i64
  %s8 = tensor.splat %k8[%t] : tensor<?xi64>
  %a = arith.muli %pg, %s48 : tensor<?xi64>
  %b = arith.muli %of, %s8 : tensor<?xi64>
  %a2 = linalg.broadcast ins(%a : tensor<?xi64>) outs(%e : tensor<?x8xi64>) dimensions = [1]
  %b2 = linalg.broadcast ins(%b : tensor<?xi64>) outs(%e : tensor<?x8xi64>) dimensions = [1]
  %h = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %hd = linalg.broadcast ins(%h : tensor<8xi64>) outs(%e : tensor<?x8xi64>) dimensions = [0]
  %ab = arith.addi %a2, %b2 : tensor<?x8xi64>
  %abc = arith.addi %ab, %hd : tensor<?x8xi64>
  %f = tensor.collapse_shape %abc [[0, 1]] : tensor<?x8xi64> into tensor<?xi64>
  %kv = tensor.collapse_shape %k [[0, 1]] : tensor<?x8xi8> into tensor<?xi8>
  %0 = kv.write at(%f : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %kv : tensor<?xi8> into %buf : tensor<?x48xi8> map(affine_map<(t, a) -> (a floordiv 48, a mod 48)>)
  return %0 : tensor<?x48xi8>
}

// The same unravelled over [pages, 4, 1, 12]: rows straddle the last dimension.
// CHECK-LABEL: func @unravelled_bytes
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[K:[^:]*]]: tensor<?x8xi8>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put %[[K]] : tensor<?x8xi8> into %{{.*}} map(#[[STRADDLING]])
func.func @unravelled_bytes(%ic: tensor<?x4x1x12xi8>, %s: tensor<?xi64>, %kb: tensor<?x8xi8>) -> tensor<?x4x1x12xi8> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x8xi64>
  %a = kv.apply affine_map<(s) -> ((s floordiv 4) * 48 + (s mod 4) * 8)>(%s) : tensor<?xi64>
  %a2 = linalg.broadcast ins(%a : tensor<?xi64>) outs(%e : tensor<?x8xi64>) dimensions = [1]
  %h = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %hd = linalg.broadcast ins(%h : tensor<8xi64>) outs(%e : tensor<?x8xi64>) dimensions = [0]
  %f = arith.addi %a2, %hd : tensor<?x8xi64>
  %i3 = kv.apply affine_map<(f) -> (f mod 12)>(%f) : tensor<?x8xi64>
  %f3 = kv.apply affine_map<(f) -> (f floordiv 12)>(%f) : tensor<?x8xi64>
  %i2 = kv.apply affine_map<(f) -> (f mod 1)>(%f3) : tensor<?x8xi64>
  %f2 = kv.apply affine_map<(f) -> (f floordiv 1)>(%f3) : tensor<?x8xi64>
  %i1 = kv.apply affine_map<(f) -> (f mod 4)>(%f2) : tensor<?x8xi64>
  %f1 = kv.apply affine_map<(f) -> (f floordiv 4)>(%f2) : tensor<?x8xi64>
  %0 = kv.write at(%f1, %i1, %i2, %i3 : tensor<?x8xi64>, tensor<?x8xi64>, tensor<?x8xi64>, tensor<?x8xi64>) negative(wrap) out_of_bounds(trap)
    put %kb : tensor<?x8xi8> into %ic : tensor<?x4x1x12xi8> map(affine_map<(t, r, a, b, c, d) -> (a, b, c, d)>)
  return %0 : tensor<?x4x1x12xi8>
}

// One linear row id over page, layer, part, head and offset. The index has a
// dimension of size 1, that goes.
// CHECK-LABEL: func @mixed_radix
// CHECK-SAME:    %[[C:[^:]*]]: tensor<?x2x2x3x4x8xbf16>, %[[PAGE:[^:]*]]: tensor<?xi64>, %[[POS:[^:]*]]: tensor<?xi64>, %[[U:[^:]*]]: tensor<?x1x3x8xf32>
// CHECK-NEXT:    %[[ROWS:.*]] = tensor.collapse_shape %[[U]] {{.*}} into tensor<?x3x8xf32>
// CHECK-NEXT:    kv.write at(%[[PAGE]], %[[POS]] : tensor<?xi64>, tensor<?xi64>)
// CHECK-NEXT:      put %[[ROWS]] : tensor<?x3x8xf32> into %[[C]] {{.*}} map(#[[RADIX]]) {
func.func @mixed_radix(%st: tensor<?x2x2x3x4x8xbf16>, %pg: tensor<?xi64>, %pos: tensor<?xi64>, %u: tensor<?x1x3x8xf32>) -> tensor<?x2x2x3x4x8xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %pos, %c0 : tensor<?xi64>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%pos) : tensor<?xi64>
  %pg3 = tensor.expand_shape %pg [[0, 1, 2]] output_shape [%t, 1, 1] : tensor<?xi64> into tensor<?x1x1xi64>
  %of3 = tensor.expand_shape %of [[0, 1, 2]] output_shape [%t, 1, 1] : tensor<?xi64> into tensor<?x1x1xi64>
  %e = tensor.empty(%t) : tensor<?x1x3xi64>
  %pgc = tensor.collapse_shape %pg3 [[0, 1, 2]] : tensor<?x1x1xi64> into tensor<?xi64>
  %ofc = tensor.collapse_shape %of3 [[0], [1, 2]] : tensor<?x1x1xi64> into tensor<?x1xi64>
  %pgb = linalg.broadcast ins(%pgc : tensor<?xi64>) outs(%e : tensor<?x1x3xi64>) dimensions = [1, 2]
  %ofb = linalg.broadcast ins(%ofc : tensor<?x1xi64>) outs(%e : tensor<?x1x3xi64>) dimensions = [2]
  %h = arith.constant dense<[[[0, 1, 2]]]> : tensor<1x1x3xi64>
  %hc = tensor.collapse_shape %h [[0, 1], [2]] : tensor<1x1x3xi64> into tensor<1x3xi64>
  %hd = linalg.broadcast ins(%hc : tensor<1x3xi64>) outs(%e : tensor<?x1x3xi64>) dimensions = [0]
  %a = kv.apply affine_map<(p, h, o) -> ((((p * 2 + 1) * 2 + 1) * 3 + h) * 4 + o)>(%pgb, %hd, %ofb) : tensor<?x1x3xi64>
  %x = kv.cast %u : tensor<?x1x3x8xf32> to tensor<?x1x3x8xbf16>
  %0 = kv.write at(%a : tensor<?x1x3xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x1x3x8xbf16> into %st : tensor<?x2x2x3x4x8xbf16> map(affine_map<(t, q, h, i, d) -> (i floordiv 48, (i floordiv 24) mod 2, (i floordiv 12) mod 2, (i floordiv 4) mod 3, i mod 4, d)>)
  return %0 : tensor<?x2x2x3x4x8xbf16>
}
