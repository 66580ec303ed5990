// kv operations may be inlined anywhere, with the regions of a write, and into
// loops and branches.
// RUN: kvfuse-opt %s --inline | FileCheck %s

// CHECK-LABEL: func.func @layer
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[V:[^:]*]]: tensor<?x8xf32>, %[[C:[^:]*]]: tensor<?x16x8xf16>, %[[N:[^:]*]]: index
// CHECK-NOT:     call
// CHECK:         %[[P:.*]] = kv.apply #{{.*}}(%[[S]])
// CHECK:         %[[W:.*]] = kv.write at(%[[P]], %{{.*}} :
// CHECK:           put %[[V]] {{.*}} into %[[C]]
// CHECK-NEXT:      ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:        kv.cast %[[X]]
// CHECK:         scf.for
// CHECK-NOT:     call
// CHECK:           kv.apply
// CHECK:           kv.write
func.func @layer(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x16x8xf16>, %n: index)
    -> tensor<?x16x8xf16> {
  %0 = call @write(%s, %v, %c)
      : (tensor<?xi64>, tensor<?x8xf32>, tensor<?x16x8xf16>) -> tensor<?x16x8xf16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%old = %0) -> tensor<?x16x8xf16> {
    %2 = func.call @write(%s, %v, %old)
        : (tensor<?xi64>, tensor<?x8xf32>, tensor<?x16x8xf16>) -> tensor<?x16x8xf16>
    scf.yield %2 : tensor<?x16x8xf16>
  }
  return %1 : tensor<?x16x8xf16>
}

// CHECK-NOT: func.func private @write
func.func private @write(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x16x8xf16>)
    -> tensor<?x16x8xf16> {
  %page = kv.apply affine_map<(s) -> (s floordiv 16)>(%s) : tensor<?xi64>
  %offset = kv.apply affine_map<(s) -> (s mod 16)>(%s) : tensor<?xi64>
  %0 = kv.write at(%page, %offset : tensor<?xi64>, tensor<?xi64>) where {
    ^bb0(%p: i64, %o: i64):
      %zero = arith.constant 0 : i64
      %real = arith.cmpi sge, %p, %zero : i64
      kv.yield %real : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x16x8xf16>
        map(affine_map<(t, p, o, d) -> (p, o, d)>) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f16
      kv.yield %y : f16
    }
  return %0 : tensor<?x16x8xf16>
}
