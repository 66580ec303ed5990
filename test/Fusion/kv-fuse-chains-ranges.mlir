// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// SX3: what the program itself says of the sign of what it divides.

// CHECK-DAG: #[[PAGED:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 4, d1 mod 4, d2)>

// A mask that leaves negative slots out.
// CHECK-LABEL: func @masked
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>) where {
// CHECK:           arith.cmpi sge
// CHECK:           map(#[[PAGED]])
func.func @masked(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %k4 = arith.constant 4 : i64
  %four = tensor.splat %k4[%n] : tensor<?xi64>
  %k0 = arith.constant 0 : i64
  %zero = tensor.splat %k0[%n] : tensor<?xi64>
  %m = arith.cmpi sge, %s, %zero : tensor<?xi64>
  %p = arith.divsi %s, %four : tensor<?xi64>
  %o = arith.remui %s, %four : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) mask(%m : tensor<?xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// A region `where` that does.
// CHECK-LABEL: func @where
// CHECK-SAME:    %[[S:[^:]*]]: tensor<6xi64>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<6xi64>) where {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: i64):
// CHECK:             arith.cmpi sgt, %[[E]], %{{.*}} : i64
// CHECK:           map(#[[PAGED]])
func.func @where(%s: tensor<6xi64>, %v: tensor<6x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %four = arith.constant dense<4> : tensor<6xi64>
  %p = arith.divui %s, %four : tensor<6xi64>
  %o = arith.remsi %s, %four : tensor<6xi64>
  %0 = kv.write at(%p, %o, %s : tensor<6xi64>, tensor<6xi64>, tensor<6xi64>) where {
    ^bb0(%pe: i64, %oe: i64, %e: i64):
      %m = arith.constant -1 : i64
      %gt = arith.cmpi sgt, %e, %m : i64
      kv.yield %gt : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<6x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, s, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// A selection of another slot where there is a negative one: the redirect stays
// (SX6), and no slot after it is negative.
// CHECK-LABEL: func @selected
// CHECK:         %[[X:.*]] = arith.select
// CHECK-NEXT:    kv.write at(%[[X]] : tensor<?xi64>)
// CHECK-NEXT:      map(#[[PAGED]])
func.func @selected(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %k4 = arith.constant 4 : i64
  %four = tensor.splat %k4[%n] : tensor<?xi64>
  %k0 = arith.constant 0 : i64
  %zero = tensor.splat %k0[%n] : tensor<?xi64>
  %m = arith.cmpi slt, %s, %zero : tensor<?xi64>
  %x = arith.select %m, %four, %s : tensor<?xi1>, tensor<?xi64>
  %p = arith.divsi %x, %four : tensor<?xi64>
  %o = arith.remsi %x, %four : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// A promise.
// CHECK-LABEL: func @undefined
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi32>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi32>) negative(undefined)
// CHECK-NEXT:      map(#[[PAGED]])
func.func @undefined(%s: tensor<?xi32>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi32>
  %k4 = arith.constant 4 : i32
  %four = tensor.splat %k4[%n] : tensor<?xi32>
  %p = arith.divsi %s, %four : tensor<?xi32>
  %o = arith.remsi %s, %four : tensor<?xi32>
  %0 = kv.write at(%p, %o : tensor<?xi32>, tensor<?xi32>) negative(undefined) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}

// A comparison in 32 bits is one of the widened values.
// CHECK-LABEL: func @mask_i32
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi32>
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi32>) where {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: i64):
// CHECK-NEXT:        %[[M:.*]] = arith.constant -1 : i64
// CHECK-NEXT:        %[[NE:.*]] = arith.cmpi ne, %[[E]], %[[M]] : i64
// CHECK-NEXT:        kv.yield %[[NE]]
func.func @mask_i32(%s: tensor<?xi32>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi32>
  %k0 = arith.constant -1 : i32
  %zero = tensor.splat %k0[%n] : tensor<?xi32>
  %m = arith.cmpi ne, %s, %zero : tensor<?xi32>
  %l = arith.extsi %s : tensor<?xi32> to tensor<?xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%l) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%l) : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) mask(%m : tensor<?xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<?x4x8xf32>
}
