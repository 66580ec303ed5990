// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// Where the evaluation of an index ends: roots, and the dimensions they have.

// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1, d2, d3, d4) -> ((d2 + d3) floordiv 4, (d2 + d3) mod 4, d4)>
// CHECK-DAG: #[[CONSECUTIVE:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d2, d3)>
// CHECK-DAG: #[[PAGED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 4, d2, d1 mod 4, d3)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK-DAG: #[[GRID:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>
// CHECK-DAG: #[[UPPER:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2 + 2, d3)>
// CHECK-DAG: #[[TWICE:.*]] = affine_map<(d0, d1, d2) -> (d2 + d1 * 2, d2 + d1 * 2)>

// All roots have the shape of the grid: one that is of sequences only is taken
// where it has been repeated.
// CHECK-LABEL: func @partial
// CHECK-SAME:    %[[BASE:[^:]*]]: tensor<?xi64>, %[[POS:[^:]*]]: tensor<?x?xi64>
// CHECK:         %[[B:.*]] = linalg.broadcast
// CHECK-NEXT:    kv.write at(%[[B]], %[[POS]] : tensor<?x?xi64>, tensor<?x?xi64>)
// CHECK-NEXT:      map(#[[SUM]])
func.func @partial(%base: tensor<?xi64>, %pos: tensor<?x?xi64>, %v: tensor<?x?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %pos, %c0 : tensor<?x?xi64>
  %q = tensor.dim %pos, %c1 : tensor<?x?xi64>
  %e = tensor.empty(%n, %q) : tensor<?x?xi64>
  %b = kv.apply affine_map<(s) -> (s * 4)>(%base) : tensor<?xi64>
  %bb = linalg.broadcast ins(%b : tensor<?xi64>) outs(%e : tensor<?x?xi64>) dimensions = [1]
  %s = arith.addi %bb, %pos : tensor<?x?xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?x?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?x?xi64>
  %0 = kv.write at(%p, %o : tensor<?x?xi64>, tensor<?x?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, q, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// Rows of a dynamic number are no row coordinate, for nothing would test their
// number any more; the iota is a coordinate of the grid.
// CHECK-LABEL: func @dynamic_iota
// CHECK:         %[[B:.*]] = linalg.broadcast
// CHECK-NEXT:    kv.write at(%[[B]] : tensor<?x?xi64>)
// CHECK-NEXT:      map(#[[CONSECUTIVE]])
func.func @dynamic_iota(%start: tensor<?xi64>, %v: tensor<?x?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %start, %c0 : tensor<?xi64>
  %q = tensor.dim %v, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%n, %q) : tensor<?x?xi64>
  %i = tensor.generate %q { ^bb0(%k: index):
    %x = arith.index_cast %k : index to i64
    tensor.yield %x : i64 } : tensor<?xi64>
  %bb = linalg.broadcast ins(%start : tensor<?xi64>) outs(%e : tensor<?x?xi64>) dimensions = [1]
  %ib = linalg.broadcast ins(%i : tensor<?xi64>) outs(%e : tensor<?x?xi64>) dimensions = [0]
  %s = arith.addi %bb, %ib : tensor<?x?xi64>
  %0 = kv.write at(%s : tensor<?x?xi64>) negative(error) out_of_bounds(trap)
    put %v : tensor<?x?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, q, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// A grid of one token.
// CHECK-LABEL: func @one_token
// CHECK-SAME:    %[[S:[^:]*]]: tensor<1xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<1xi64>)
// CHECK-NEXT:      map(#[[PAGED]])
func.func @one_token(%s: tensor<1xi64>, %v: tensor<1x3x8xf32>, %c: tensor<?x3x4x8xf32>) -> tensor<?x3x4x8xf32> {
  %e = tensor.empty() : tensor<1x3xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<1xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<1xi64>
  %pb = linalg.broadcast ins(%p : tensor<1xi64>) outs(%e : tensor<1x3xi64>) dimensions = [1]
  %ob = linalg.broadcast ins(%o : tensor<1xi64>) outs(%e : tensor<1x3xi64>) dimensions = [1]
  %h = arith.constant dense<[[0, 1, 2]]> : tensor<1x3xi64>
  %0 = kv.write at(%pb, %h, %ob : tensor<1x3xi64>, tensor<1x3xi64>, tensor<1x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<1x3x8xf32> into %c : tensor<?x3x4x8xf32> map(affine_map<(t, k, p, h, o, d) -> (p, h, o, d)>)
  return %0 : tensor<?x3x4x8xf32>
}

// A mask of tokens loses the heads like the indices do.
// CHECK-LABEL: func @masked_grid
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[M:[^:]*]]: tensor<?xi1>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>) mask(%[[M]] : tensor<?xi1>)
// CHECK-NEXT:      map(#[[ROWS]])
func.func @masked_grid(%s: tensor<?xi64>, %m: tensor<?xi1>, %v: tensor<?x3x8xf32>, %c: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x3xi64>
  %em = tensor.empty(%n) : tensor<?x3xi1>
  %pb = linalg.broadcast ins(%s : tensor<?xi64>) outs(%e : tensor<?x3xi64>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<?xi1>) outs(%em : tensor<?x3xi1>) dimensions = [1]
  %h = tensor.generate %n { ^bb0(%i: index, %k: index):
    %x = arith.index_cast %k : index to i64
    tensor.yield %x : i64 } : tensor<?x3xi64>
  %0 = kv.write at(%pb, %h : tensor<?x3xi64>, tensor<?x3xi64>) mask(%mb : tensor<?x3xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xf32> into %c : tensor<?x3x8xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  return %0 : tensor<?x3x8xf32>
}

// One that differs from head to head keeps them in the grid.
// CHECK-LABEL: func @mask_of_heads
// CHECK:         %[[B:.*]] = linalg.broadcast {{.*}} outs({{.*}}xi64>)
// CHECK:         %[[M:.*]] = linalg.broadcast {{.*}} outs({{.*}}xi1>)
// CHECK-NEXT:    kv.write at(%[[B]] : tensor<?x3xi64>) mask(%[[M]] : tensor<?x3xi1>)
// CHECK-NEXT:      map(#[[GRID]])
func.func @mask_of_heads(%s: tensor<?xi64>, %m: tensor<3xi1>, %v: tensor<?x3x8xf32>, %c: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x3xi64>
  %em = tensor.empty(%n) : tensor<?x3xi1>
  %pb = linalg.broadcast ins(%s : tensor<?xi64>) outs(%e : tensor<?x3xi64>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<3xi1>) outs(%em : tensor<?x3xi1>) dimensions = [0]
  %h = tensor.generate %n { ^bb0(%i: index, %k: index):
    %x = arith.index_cast %k : index to i64
    tensor.yield %x : i64 } : tensor<?x3xi64>
  %0 = kv.write at(%pb, %h : tensor<?x3xi64>, tensor<?x3xi64>) mask(%mb : tensor<?x3xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xf32> into %c : tensor<?x3x8xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  return %0 : tensor<?x3x8xf32>
}

// SX10: three heads of five are a box, unless rows of another dimension were to
// cover the cache, which no static size shows: then the grid stays.
// CHECK-LABEL: func @fewer_heads
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK:         kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      into {{.*}} box map(#[[ROWS]])
// CHECK:         kv.write at(%{{.*}} : tensor<?x3xi64>)
// CHECK-NEXT:      into %{{[^:]*}} : tensor<?x5x?xf32> map(#[[GRID]])
// CHECK:         kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      into %{{[^:]*}} : tensor<?x5x8xf32> map(#[[UPPER]])
func.func @fewer_heads(%s: tensor<?xi64>, %v: tensor<?x3x8xf32>, %c: tensor<?x5x8xf32>, %e5: tensor<?x5x?xf32>) -> (tensor<?x5x8xf32>, tensor<?x5x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x3xi64>
  %pb = linalg.broadcast ins(%s : tensor<?xi64>) outs(%e : tensor<?x3xi64>) dimensions = [1]
  %h0 = arith.constant dense<[2, 3, 4]> : tensor<3xi64>
  %h1 = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %h = linalg.broadcast ins(%h1 : tensor<3xi64>) outs(%e : tensor<?x3xi64>) dimensions = [0]
  %g = linalg.broadcast ins(%h0 : tensor<3xi64>) outs(%e : tensor<?x3xi64>) dimensions = [0]
  %0 = kv.write at(%pb, %h : tensor<?x3xi64>, tensor<?x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xf32> into %c : tensor<?x5x8xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  %1 = kv.write at(%pb, %h : tensor<?x3xi64>, tensor<?x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xf32> into %e5 : tensor<?x5x?xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  %2 = kv.write at(%pb, %g : tensor<?x3xi64>, tensor<?x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xf32> into %0 : tensor<?x5x8xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  return %2, %1 : tensor<?x5x8xf32>, tensor<?x5x?xf32>
}

// The body of a structured operation, with its loops in another order.
// CHECK-LABEL: func @generic
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?x3xi32>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?x3xi32>)
// CHECK-NEXT:      map(#[[GRID]])
func.func @generic(%s: tensor<?x3xi32>, %v: tensor<?x3x8xf32>, %c: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?x3xi32>
  %e = tensor.empty(%n) : tensor<?x3xi64>
  %i = linalg.generic {indexing_maps = [affine_map<(a, b) -> (b, a)>, affine_map<(a, b) -> (b, a)>], iterator_types = ["parallel", "parallel"]}
     ins(%s : tensor<?x3xi32>) outs(%e : tensor<?x3xi64>) {
     ^bb0(%x: i32, %o: i64):
       %w = arith.extsi %x : i32 to i64
       %k = linalg.index 0 : index
       %ki = arith.index_cast %k : index to i64
       %three = arith.constant 3 : i64
       %m = arith.muli %w, %three : i64
       %r = arith.addi %m, %ki : i64
       linalg.yield %r : i64 } -> tensor<?x3xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 3)>(%i) : tensor<?x3xi64>
  %h = kv.apply affine_map<(s) -> (s mod 3)>(%i) : tensor<?x3xi64>
  %0 = kv.write at(%p, %h : tensor<?x3xi64>, tensor<?x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xf32> into %c : tensor<?x3x8xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  return %0 : tensor<?x3x8xf32>
}

// Elements at grid coordinates are seen through; those at computed ones are a
// gather, and that is a root.
// CHECK-LABEL: func @extracts
// CHECK-SAME:    %{{[^:]*}}: tensor<8xi64>, %[[POS:[^:]*]]: tensor<8xi64>
// CHECK:         %[[G:.*]] = tensor.generate
// CHECK:         kv.write at(%[[POS]], %[[G]] : tensor<8xi64>, tensor<8xi64>)
// CHECK-NEXT:      map(#[[TWICE]])
func.func @extracts(%tab: tensor<8xi64>, %pos: tensor<8xi64>, %v: tensor<8xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %g = tensor.generate { ^bb0(%i: index):
    %a = tensor.extract %pos[%i] : tensor<8xi64>
    %b = arith.index_cast %a : i64 to index
    %x = tensor.extract %tab[%b] : tensor<8xi64>
    tensor.yield %x : i64 } : tensor<8xi64>
  %w = tensor.generate { ^bb0(%i: index):
    %a = tensor.extract %pos[%i] : tensor<8xi64>
    %two = arith.constant 2 : i64
    %x = arith.muli %a, %two : i64
    tensor.yield %x : i64 } : tensor<8xi64>
  %s = arith.addi %g, %w : tensor<8xi64>
  %0 = kv.write at(%s : tensor<8xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<8xf32> into %c : tensor<?x?xf32> map(affine_map<(t, s) -> (s, s)>)
  return %0 : tensor<?x?xf32>
}

// Index values are i32 or i64 (SX1): of other vectors the root is what is cast.
// CHECK-LABEL: func @index_typed
// CHECK:         %[[I:.*]] = arith.index_cast
// CHECK-NEXT:    kv.write at(%[[I]] : tensor<?xi64>)
func.func @index_typed(%s: tensor<?xindex>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %i = arith.index_cast %s : tensor<?xindex> to tensor<?xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%i) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%i) : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// A scalar is a root where it has been repeated.
// CHECK-LABEL: func @splat_argument
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK:         %[[X:.*]] = tensor.splat
// CHECK-NEXT:    kv.write at(%[[S]], %[[X]] : tensor<?xi64>, tensor<?xi64>)
func.func @splat_argument(%s: tensor<?xi64>, %x: i64, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %xs = tensor.splat %x[%n] : tensor<?xi64>
  %i = arith.addi %s, %xs : tensor<?xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%i) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%i) : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// SX10: an iota of another size than the slots is an error, and stays to be one.
// CHECK-LABEL: func @unrelated_sizes
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK:         %[[I:.*]] = tensor.generate
// CHECK:         kv.write at(%[[S]], %[[I]] : tensor<?xi64>, tensor<?xi64>)
func.func @unrelated_sizes(%s: tensor<?xi64>, %n: index, %v: tensor<?x8xf32>, %c: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %i = tensor.generate %n { ^bb0(%k: index):
    %x = arith.index_cast %k : index to i64
    tensor.yield %x : i64 } : tensor<?xi64>
  %0 = kv.write at(%s, %i : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x?x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x?x8xf32>
}

// A root may be the result of a write that is fused itself.
// CHECK-LABEL: func @index_of_write
// CHECK:         %[[POS:.*]] = kv.write
// CHECK:         kv.write at(%[[POS]] : tensor<?xi64>)
func.func @index_of_write(%s: tensor<?xi64>, %u: tensor<?xi64>, %pos: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> (tensor<?xi64>, tensor<?x8xf32>) {
  %q = kv.apply affine_map<(s) -> (s + 1)>(%s) : tensor<?xi64>
  %0 = kv.write at(%q : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %u : tensor<?xi64> into %pos : tensor<?xi64> map(affine_map<(t, s) -> (s)>)
  %p = kv.apply affine_map<(s) -> (s * 2)>(%0) : tensor<?xi64>
  %1 = kv.write at(%p : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?xi64>, tensor<?x8xf32>
}

// Roots in another order of dimensions are taken where they have been transposed.
// CHECK-LABEL: func @transposed_root
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?x?xi64>
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK-NEXT:    kv.write at(%[[S]], %[[T]] : tensor<?x?xi64>, tensor<?x?xi64>)
func.func @transposed_root(%s: tensor<?x?xi64>, %r: tensor<?x?xi64>, %v: tensor<?x?x8xf32>, %c: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %s, %c0 : tensor<?x?xi64>
  %m = tensor.dim %s, %c1 : tensor<?x?xi64>
  %e = tensor.empty(%n, %m) : tensor<?x?xi64>
  %t = linalg.transpose ins(%r : tensor<?x?xi64>) outs(%e : tensor<?x?xi64>) permutation = [1, 0]
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%t) : tensor<?x?xi64>
  %0 = kv.write at(%s, %p : tensor<?x?xi64>, tensor<?x?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x?x8xf32> into %c : tensor<?x?x8xf32> map(affine_map<(t, q, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x?x8xf32>
}

// Constants without elements have no range.
// CHECK-LABEL: func @no_heads
// CHECK:         kv.write at(%{{.*}} : tensor<?x0xi64>, tensor<?x0xi64>)
func.func @no_heads(%s: tensor<?xi64>, %v: tensor<?x0x8xf32>, %c: tensor<?x0x8xf32>) -> tensor<?x0x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x0xi64>
  %pb = linalg.broadcast ins(%s : tensor<?xi64>) outs(%e : tensor<?x0xi64>) dimensions = [1]
  %h = arith.constant dense<[]> : tensor<0xi64>
  %hb = linalg.broadcast ins(%h : tensor<0xi64>) outs(%e : tensor<?x0xi64>) dimensions = [0]
  %0 = kv.write at(%pb, %hb : tensor<?x0xi64>, tensor<?x0xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x0x8xf32> into %c : tensor<?x0x8xf32> map(affine_map<(t, k, p, h, d) -> (p, h, d)>)
  return %0 : tensor<?x0x8xf32>
}
