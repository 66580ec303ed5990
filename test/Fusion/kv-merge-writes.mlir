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

// Earlier writes move down over what touches other memory, also over writes for
// other tokens, which are runs of their own.

// CHECK-LABEL: func.func @between(
// CHECK-NOT:     kv.write
// CHECK:         memref.load %arg2
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    scf.if
// CHECK:           memref.store
// CHECK:         kv.write at(%arg0 : memref<?xi64>)
// CHECK-NEXT:      put %arg2 : memref<?x8xf32> into %arg3 :
// CHECK-NEXT:      put %arg2 : memref<?x8xf32> into %arg4 :
// CHECK-NEXT:    kv.write at(%arg1 : memref<?xi64>)
// CHECK-NEXT:      put %arg2 : memref<?x8xf32> into %arg5 :
// CHECK-NEXT:      put %arg2 : memref<?x8xf32> into %arg6 :
// CHECK-NEXT:    return
func.func @between(%s: memref<?xi64>, %r: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>, %other: memref<f32>, %go: i1) {
  %c0 = arith.constant 0 : index
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %x = memref.load %v[%c0, %c0] : memref<?x8xf32>
  memref.store %x, %other[] : memref<f32>
  scf.if %go {
    memref.store %x, %other[] : memref<f32>
  }
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%r : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// What reads a cache that was written, changes what a write reads, ends the life
// of it, or is not known, stays between the writes. A refused write stays alone.

// CHECK-LABEL: func.func @order(
// CHECK-COUNT-7: kv.write
// CHECK-NOT:     kv.write
// CHECK:         return
func.func @order(%s: memref<?xi64>, %v: memref<?x8xf32>, %w: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>, %other: memref<f32>, %go: i1) {
  %c0 = arith.constant 0 : index
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %x = memref.load %a[%c0, %c0] : memref<?x8xf32>
  memref.store %x, %other[] : memref<f32>
  // expected-remark-re @below {{[Missed] order | Category:kvfuse | Function=order | Cause=loc("{{.*}}":{{[0-9]+}}:8), Reason="an operation between this write and an earlier one for the same tokens uses what the earlier one writes, or changes what it reads", Suggestion="move that operation before the earlier write or behind this one"}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  scf.if %go {
    memref.store %x, %v[%c0, %c0] : memref<?x8xf32>
  }
  // expected-remark @below {{[Missed] order}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  // expected-remark @below {{[Missed] order}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  memref.dealloc %w : memref<?x8xf32>
  // expected-remark @below {{[Missed] order}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    attributes {kv.refused = "mixed-division"}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %a : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    attributes {kv.refused = "mixed-division"}
  return
}

// -----

// SM2, SM3: views that overlap stay apart.

// CHECK-LABEL: func.func @aliases(
// CHECK-COUNT-3: kv.write
// CHECK:         return
func.func @aliases(%s: memref<?xi64>, %v: memref<4x8xf32>, %a: memref<32x8xf32>, %b: memref<?x8xf32>) {
  %low = memref.subview %a[0, 0] [17, 8] [1, 1] : memref<32x8xf32> to memref<17x8xf32, strided<[8, 1]>>
  %high = memref.subview %a[16, 0] [16, 8] [1, 1] : memref<32x8xf32> to memref<16x8xf32, strided<[8, 1], offset: 128>>
  %rows = memref.subview %a[16, 0] [4, 8] [1, 1] : memref<32x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 128>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %low : memref<17x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark-re @below {{[Missed] dest-alias | Category:kvfuse | Function=aliases | Cause=loc("{{.*}}":{{[0-9]+}}:3), Reason="two destinations are not known to be disjoint: strides [8, 1] at offset 0, and strides [8, 1] at offset 128", Suggestion="pass caches that do not overlap as arguments of their own"}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %high : memref<16x8xf32, strided<[8, 1], offset: 128>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark-re @below {{[Missed] alias-value | Category:kvfuse | Function=aliases | Cause=loc({{.*}}), Reason="what one write reads is not known to be apart from what the other writes: strides [8, 1] at offset 128, and strides [8, 1] at offset 128", Suggestion="copy the values before they are written"}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : memref<4x8xf32, strided<[8, 1], offset: 128>> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// A cache that was expanded has many elements in one place, and so has one of
// windows: steps of 4 and of 1 meet in rows of 8.

// CHECK-LABEL: func.func @expanded(
// CHECK-COUNT-2: kv.write
// CHECK-LABEL: func.func @windows(
// CHECK-COUNT-2: kv.write
func.func @expanded(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x4x8xf32, strided<[8, 0, 1]>>, %b: memref<?x8xf32>) {
  // expected-remark-re @below {{[Missed] overlap | Category:kvfuse | Function=expanded | Cause=loc({{.*}}), Reason="elements of the cache lie in one place: strides [8, 0, 1] at offset 0", Suggestion="write into the cache before it is expanded"}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x4x8xf32, strided<[8, 0, 1]>> map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> (t, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
func.func @windows(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32, strided<[4, 1]>>, %b: memref<?x8xf32>) {
  // expected-remark @below {{strides [4, 1] at offset 0}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x8xf32, strided<[4, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
