// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-merge-writes)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// Three writes of other maps, types, page sizes and layouts, with views and
// arithmetic between them, are one.

// CHECK-DAG: #[[M0:.+]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>
// CHECK-DAG: #[[M1:.+]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 16, d1 mod 16, d2, d3)>
// CHECK-DAG: #[[M2:.+]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[M3:.+]] = affine_map<(d0, d1, d2) -> (d1, d2 + 8)>
// CHECK-LABEL: func.func @three(
// CHECK-NOT:     kv.write
// CHECK:         memref.cast
// CHECK:         kv.write at(%arg0 : memref<?xi64>) mask(%arg1 : memref<?xi1>) where {
// CHECK:           put %arg2 : memref<?x4x8xf32> into %arg3 : memref<?x4x32x8xf32, strided<[?, ?, ?, 1], offset: ?>>
// CHECK-SAME:        map(#[[M0]])
// CHECK:           put %arg4 : memref<4x?x8xf32> into %{{.*}} : memref<?x16x4x8xf8E5M2>
// CHECK-SAME:        map(#[[M1]]) order(#[[M2]]) {
// CHECK:             kv.cast
// CHECK:           put %arg6 : memref<?x8xi8> into %arg7 : memref<?x16xi8> box
// CHECK-SAME:        map(#[[M3]])
// CHECK-NOT:     kv.write
// CHECK:         return
func.func @three(%s: memref<?xi64>, %m: memref<?xi1>, %k: memref<?x4x8xf32>, %kc: memref<?x4x32x8xf32, strided<[?, ?, ?, 1], offset: ?>>, %v: memref<4x?x8xf32>, %vc: memref<8x16x4x8xf8E5M2>, %i: memref<?x8xi8>, %ic: memref<?x16xi8>) {
  kv.write at(%s : memref<?xi64>) mask(%m : memref<?xi1>) where { ^bb0(%e: i64): %z = arith.constant 0 : i64
      %g = arith.cmpi sge, %e, %z : i64
      kv.yield %g : i1 } negative(wrap) out_of_bounds(trap)
    put %k : memref<?x4x8xf32> into %kc : memref<?x4x32x8xf32, strided<[?, ?, ?, 1], offset: ?>>
    map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  %view = memref.cast %vc : memref<8x16x4x8xf8E5M2> to memref<?x16x4x8xf8E5M2>
  %c0 = arith.constant 0 : index
  %n = memref.dim %s, %c0 : memref<?xi64>
  kv.write at(%s : memref<?xi64>) mask(%m : memref<?xi1>) where { ^bb0(%e: i64): %z = arith.constant 0 : i64
      %g = arith.cmpi sge, %e, %z : i64
      kv.yield %g : i1 } negative(wrap) out_of_bounds(trap)
    put %v : memref<4x?x8xf32> into %view : memref<?x16x4x8xf8E5M2>
    map(affine_map<(t, s, h, d) -> (s floordiv 16, s mod 16, h, d)>) order(affine_map<(t, h, d) -> (h, t, d)>) {
    ^bb0(%e: f32):
      %y = kv.cast %e : f32 to f8E5M2
      kv.yield %y : f8E5M2
    }
  kv.write at(%s : memref<?xi64>) mask(%m : memref<?xi1>) where { ^bb0(%e: i64): %z = arith.constant 0 : i64
      %g = arith.cmpi sge, %e, %z : i64
      kv.yield %g : i1 } negative(wrap) out_of_bounds(trap)
    put %i : memref<?x8xi8> into %ic : memref<?x16xi8> box map(affine_map<(t, s, d) -> (s, d + 8)>)
  return
}

// -----

// Other indices, mask, region `where`, policies: other tokens, and no remark.

// CHECK-LABEL: func.func @tokens(
// CHECK-COUNT-7: kv.write
// CHECK:         return
func.func @tokens(%s: memref<?xi64>, %r: memref<?xi64>, %m: memref<?xi1>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) mask(%m : memref<?xi1>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) mask(%m : memref<?xi1>) where { ^bb0(%e: i64):
      %g = arith.cmpi sge, %e, %e : i64
      kv.yield %g : i1 } negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) mask(%m : memref<?xi1>) where { ^bb0(%e: i64):
      %g = arith.cmpi sgt, %e, %e : i64
      kv.yield %g : i1 } negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// What reads or writes memory, or is not known, ends a run; so does a refused
// write.

// CHECK-LABEL: func.func @effects(
// CHECK-COUNT-4: kv.write
// CHECK:         return
func.func @effects(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %x = memref.load %v[%c0, %c0] : memref<?x8xf32>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    attributes {kv.refused = "mixed-division"}
  return
}

// -----

// SM2, SM3: views of one buffer stay apart, and so does a buffer of which it is
// not known where it comes from.

// CHECK-LABEL: func.func @aliases(
// CHECK-COUNT-4: kv.write
// CHECK:         return
func.func @aliases(%s: memref<?xi64>, %v: memref<4x8xf32>, %a: memref<32x8xf32>, %b: memref<?x8xf32>) {
  %low = memref.subview %a[0, 0] [16, 8] [1, 1] : memref<32x8xf32> to memref<16x8xf32, strided<[8, 1]>>
  %high = memref.subview %a[16, 0] [16, 8] [1, 1] : memref<32x8xf32> to memref<16x8xf32, strided<[8, 1], offset: 128>>
  %rows = memref.subview %a[0, 0] [4, 8] [1, 1] : memref<32x8xf32> to memref<4x8xf32, strided<[8, 1]>>
  %other = "unknown.buffer"() : () -> memref<?x8xf32>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %low : memref<16x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark-re @below {{[Missed] dest-alias | Category:kvfuse | Function=aliases | Cause=loc("{{.*}}":{{[0-9]+}}:3), Reason="two destinations may be views of one buffer", Suggestion="pass caches that do not overlap as arguments of their own"}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %high : memref<16x8xf32, strided<[8, 1], offset: 128>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark-re @below {{[Missed] alias-value | Category:kvfuse | Function=aliases | Cause=loc({{.*}}), Reason="what one write reads may be a view of what the other writes", Suggestion="copy the values before they are written"}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : memref<4x8xf32, strided<[8, 1]>> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{dest-alias}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %other : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
