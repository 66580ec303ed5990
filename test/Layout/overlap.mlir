// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-version-layouts)' | FileCheck %s
// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-version-layouts{assume-disjoint=true})' | FileCheck %s --check-prefix=PROMISED --implicit-check-not=SM8 --implicit-check-not=interleaved

// SM8: each argument that is written against each other one, first by ranges,
// and by periods where those meet. The values and slots are only read.

// CHECK-LABEL:   func.func @two(
// CHECK:           %[[BEFORE:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:      %[[BEHIND:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:      %[[APART:.*]] = arith.ori %[[BEFORE]], %[[BEHIND]] : i1
// CHECK-NEXT:      %[[OK:.*]] = scf.if %[[APART]] -> (i1) {
// CHECK:           } else {
// CHECK:             func.call @kvfuse_are_interleaved_3(
// CHECK:           cf.assert %[[OK]], "SM8: dest-alias: arguments 2 and 3 overlap"
// CHECK:           cf.assert %{{.*}}, "SM8: dest-alias: arguments 0 and 2 overlap"
// CHECK:           cf.assert %{{.*}}, "SM8: dest-alias: arguments 1 and 2 overlap"
// CHECK:           cf.assert %{{.*}}, "SM8: dest-alias: arguments 0 and 3 overlap"
// CHECK:           cf.assert %{{.*}}, "SM8: dest-alias: arguments 1 and 3 overlap"
// CHECK-NOT:       SM8
// CHECK:           kv.write
// CHECK-COUNT-1: func.func private @kvfuse_are_interleaved_3({{.*}}) -> i1 attributes {kv.pure}
// CHECK-NOT:     func.func private
// PROMISED:      func.func @two(
func.func @two(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>>, %b: memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : memref<?x8xf32> into %a : memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>> map(affine_map<(t, s, d) -> (s floordiv 4, s mod 4, d)>)
    put %v : memref<?x8xf32> into %b : memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>> map(affine_map<(t, s, d) -> (s floordiv 4, s mod 4, d)>)
  return
}

// -----

// Written through a view, in a branch, and by a call. A private function may get
// views of one argument, which are not what was tested.

// CHECK-LABEL:   func.func @by_call(
// CHECK:           "SM8: dest-alias: arguments 1 and 2 overlap"
// CHECK:           "SM8: dest-alias: arguments 0 and 1 overlap"
// CHECK:           "SM8: dest-alias: arguments 1 and 3 overlap"
// CHECK:           "SM8: dest-alias: arguments 0 and 2 overlap"
// CHECK:           "SM8: dest-alias: arguments 2 and 3 overlap"
// CHECK-NOT:       SM8
// CHECK-LABEL:   func.func private @callee(
// CHECK:           "SM8: dest-alias: arguments 0 and 2 overlap"
// CHECK:           "SM8: dest-alias: arguments 1 and 2 overlap"
// PROMISED:      func.func private @callee(
func.func @by_call(%s: memref<?xi64>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %v: memref<?x8xf32>, %other: index, %go: i1) {
  %view = memref.subview %a[0, 0] [16, 8] [1, 1] : memref<?x8xf32> to memref<16x8xf32, strided<[8, 1]>>
  scf.if %go {
    kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : memref<?x8xf32> into %view : memref<16x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  }
  call @callee(%s, %v, %b) : (memref<?xi64>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
func.func private @callee(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Which of two arguments is written is not known, so both may be.

// CHECK-LABEL:   func.func @either(
// CHECK:           "SM8: dest-alias: arguments 2 and 3 overlap"
// PROMISED:      func.func @either(
func.func @either(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %which: i1) {
  %c = scf.if %which -> memref<?x8xf32> {
    scf.yield %a : memref<?x8xf32>
  } else {
    scf.yield %b : memref<?x8xf32>
  }
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Of many arguments there is a loop: the code does not grow with the pairs.

// CHECK-LABEL:   func.func @many(
// CHECK:           %[[FOUND:.*]]:3 = scf.for
// CHECK:             scf.index_switch
// CHECK:             scf.if
// CHECK:               scf.for
// CHECK:                 scf.index_switch
// CHECK:                 func.call @kvfuse_are_interleaved_2(
// CHECK:           %[[OTHER:.*]] = arith.cmpi ne, %[[FOUND]]#0, %{{.*}}
// CHECK-NEXT:      cf.assert %[[OTHER]], "SM8: dest-alias: argument 2 overlaps one that is written"
// CHECK:           "SM8: dest-alias: argument 9 overlaps one that is written"
// CHECK:           "SM8: dest-alias: argument 0 overlaps one that is written"
// CHECK:           "SM8: dest-alias: argument 1 overlaps one that is written"
// PROMISED:      func.func @many(
func.func @many(%s: memref<?xi64>, %v: memref<?x8xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>, %e: memref<?x8xf32>, %f: memref<?x8xf32>, %g: memref<?x8xf32>, %h: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : memref<?x8xf32> into %a : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %b : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %e : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %f : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %g : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %h : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Views of one argument at places that the caller computes: their ranges stand
// where the views are made. The rows lie in the buffer, too, and are read for
// one destination only.

// CHECK-LABEL:   func.func @views(
// CHECK:           "SM8: overlap: argument 2, of which several parts are written, repeats its elements"
// CHECK:           %[[K:.*]] = memref.subview %{{.*}}[%arg3, 0]
// CHECK:           memref.extract_strided_metadata %[[K]]
// CHECK:           %[[W:.*]] = memref.subview %{{.*}}[%arg4, 0]
// CHECK:           memref.extract_strided_metadata %[[W]]
// CHECK:           %[[DESTS:.*]] = scf.if
// CHECK:             func.call @kvfuse_are_interleaved_2(
// CHECK:           %[[ROWS:.*]] = scf.if
// CHECK:           %[[BOTH:.*]] = arith.andi %[[DESTS]], %[[ROWS]]
// CHECK:           scf.if %[[BOTH]] {
// CHECK:             kv.write {{.*}} disjoint
// CHECK:           } else {
// CHECK:             put %arg1 {{.*}} into %[[K]]
// CHECK:             kv.write
// CHECK:             put {{.*}} into %[[W]]
// PROMISED:      func.func @views(
// PROMISED-NOT:    else
// PROMISED:        kv.write {{.*}} disjoint
func.func @views(%s: memref<?xi64>, %v: memref<?x8xf32, strided<[?, ?], offset: ?>>, %pool: memref<?x8xf32, strided<[?, 2], offset: ?>>, %i: index, %j: index, %rows: index, %n: index) {
  %k = memref.subview %pool[%i, 0] [%rows, 8] [1, 1] : memref<?x8xf32, strided<[?, 2], offset: ?>> to memref<?x8xf32, strided<[?, 2], offset: ?>>
  %w = memref.subview %pool[%j, 0] [%rows, 8] [1, 1] : memref<?x8xf32, strided<[?, 2], offset: ?>> to memref<?x8xf32, strided<[?, 2], offset: ?>>
  %r = memref.subview %pool[0, 0] [%n, 8] [1, 1] : memref<?x8xf32, strided<[?, 2], offset: ?>> to memref<?x8xf32, strided<[?, 2], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32, strided<[?, ?], offset: ?>> into %k : memref<?x8xf32, strided<[?, 2], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
    put %r : memref<?x8xf32, strided<[?, 2], offset: ?>> into %w : memref<?x8xf32, strided<[?, 2], offset: ?>> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
