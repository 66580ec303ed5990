// RUN: kvfuse-opt %s --canonicalize --mlir-print-local-scope --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @apply_identity
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xi64>, %[[B:[^:]*]]: tensor<?xi64>
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @apply_identity(%a: tensor<?xi64>, %b: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %0 = kv.apply affine_map<(s) -> (s)>(%a) : tensor<?xi64>
  %1 = kv.apply affine_map<(s, p) -> (p)>(%a, %b) : tensor<?xi64>
  return %0, %1 : tensor<?xi64>, tensor<?xi64>
}

// SX2: floor, and a remainder in [0, P).
// CHECK-LABEL: func.func @apply_constants
// CHECK-DAG:     %[[M1:.*]] = arith.constant -1 : i64
// CHECK-DAG:     %[[C31:.*]] = arith.constant 31 : i64
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG:     %[[C7:.*]] = arith.constant dense<7> : tensor<4xi64>
// CHECK-DAG:     %[[V5:.*]] = arith.constant dense<-5> : vector<2xi64>
// CHECK:         return %[[M1]], %[[C31]], %[[C2]], %[[C7]], %[[V5]]
func.func @apply_constants() -> (i64, i64, i64, tensor<4xi64>, vector<2xi64>) {
  %m1 = arith.constant -1 : i64
  %0 = kv.apply affine_map<(s) -> (s floordiv 32)>(%m1) : i64
  %1 = kv.apply affine_map<(s) -> (s mod 32)>(%m1) : i64
  %m7 = arith.constant -7 : i64
  %2 = kv.apply affine_map<(s) -> (s mod 3)>(%m7) : i64
  %t = arith.constant dense<39> : tensor<4xi64>
  %3 = kv.apply affine_map<(s) -> (s mod 32)>(%t) : tensor<4xi64>
  %v = arith.constant dense<10> : vector<2xi64>
  %w = arith.constant dense<-3> : vector<2xi64>
  %4 = kv.apply affine_map<(s, p) -> (s + p * 5)>(%v, %w) : vector<2xi64>
  return %0, %1, %2, %3, %4 : i64, i64, i64, tensor<4xi64>, vector<2xi64>
}

// A constant map folds whatever its operands are, where the shape is known.
// CHECK-LABEL: func.func @apply_constant_map
// CHECK-SAME:    %[[A:[^:]*]]: tensor<4xi64>, %[[B:[^:]*]]: tensor<?xi64>
// CHECK:         %[[C:.*]] = arith.constant dense<5> : tensor<4xi64>
// CHECK:         %[[D:.*]] = kv.apply affine_map<(d0) -> (5)>(%[[B]]) : tensor<?xi64>
// CHECK:         return %[[C]], %[[D]]
func.func @apply_constant_map(%a: tensor<4xi64>, %b: tensor<?xi64>) -> (tensor<4xi64>, tensor<?xi64>) {
  %0 = kv.apply affine_map<(s) -> (5)>(%a) : tensor<4xi64>
  %1 = kv.apply affine_map<(s, p) -> (5)>(%b, %b) : tensor<?xi64>
  return %0, %1 : tensor<4xi64>, tensor<?xi64>
}

// CHECK-LABEL: func.func @apply_maps
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xi64>, %[[B:[^:]*]]: tensor<?xi64>
// CHECK:         %[[X:.*]] = kv.apply affine_map<(d0) -> (d0 mod 32)>(%[[A]])
// CHECK:         %[[Y:.*]] = kv.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%[[B]], %[[A]])
// CHECK:         return %[[X]], %[[A]], %[[Y]]
func.func @apply_maps(%a: tensor<?xi64>, %b: tensor<?xi64>, %c: tensor<?xi64>)
    -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %0 = kv.apply affine_map<(s) -> (s - (s floordiv 32) * 32)>(%a) : tensor<?xi64>
  %1 = kv.apply affine_map<(s) -> ((s floordiv 32) * 32 + s mod 32)>(%a) : tensor<?xi64>
  // Operands that are not used go, equal ones become one.
  %2 = kv.apply affine_map<(p, s, q, r) -> (p + q + r)>(%b, %c, %a, %b) : tensor<?xi64>
  return %0, %1, %2 : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}

// Two operations stay two: composing them is fusion.
// CHECK-LABEL: func.func @apply_of_apply
// CHECK-COUNT-2: kv.apply
func.func @apply_of_apply(%a: tensor<?xi64>) -> tensor<?xi64> {
  %0 = kv.apply affine_map<(s) -> (s floordiv 32)>(%a) : tensor<?xi64>
  %1 = kv.apply affine_map<(s) -> (s mod 4)>(%0) : tensor<?xi64>
  return %1 : tensor<?xi64>
}

// -----

// CHECK-LABEL: func.func @write_maps
// CHECK:         put {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>)
// CHECK:         put {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>)
func.func @write_maps(%s: memref<?xi64>, %v: memref<?x4x8xf32>, %c: memref<?x4x32x8xf32>,
                      %flat: memref<?x4x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c : memref<?x4x32x8xf32>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s - (s floordiv 32) * 32, d)>)
    put %v : memref<?x4x8xf32> into %flat : memref<?x4x8xf32>
        map(affine_map<(t, s, h, d) -> ((s floordiv 32) * 32 + s mod 32, h, d)>)
  return
}

// -----

// Of the index operands (a, b, a, c) only a and c are needed. Destinations keep
// their own row coordinates.
// CHECK-LABEL: func.func @write_indices
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xi64>, %[[B:[^:]*]]: tensor<?xi32>, %[[C:[^:]*]]: tensor<?xi32>
// CHECK:         kv.write at(%[[A]], %[[C]] : tensor<?xi64>, tensor<?xi32>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, d1, d2, d3)>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2) -> (d0, d1 + d2 * 2)>)
func.func @write_indices(%a: tensor<?xi64>, %b: tensor<?xi32>, %c: tensor<?xi32>,
                         %v: tensor<?x8xf32>, %w: tensor<?xf32>,
                         %x: tensor<?x?x?x8xf32>, %y: tensor<?x?xf32>)
    -> (tensor<?x?x?x8xf32>, tensor<?x?xf32>) {
  %0:2 = kv.write at(%a, %b, %a, %c : tensor<?xi64>, tensor<?xi32>, tensor<?xi64>, tensor<?xi32>)
      negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %x : tensor<?x?x?x8xf32>
        map(affine_map<(t, a, b, a2, c, d) -> (a, a2, c, d)>)
    put %w : tensor<?xf32> into %y : tensor<?x?xf32>
        map(affine_map<(t, a, b, a2, c) -> (t, a2 + c * 2)>)
  return %0#0, %0#1 : tensor<?x?x?x8xf32>, tensor<?x?xf32>
}

// What a region 'where' looks at stays, and is one argument per operand again.
// CHECK-LABEL: func.func @write_where_indices
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xi64>, %[[B:[^:]*]]: tensor<?xi64>, %[[C:[^:]*]]: tensor<?xi64>
// CHECK:         kv.write at(%[[B]], %[[A]] : tensor<?xi64>, tensor<?xi64>) where {
// CHECK-NEXT:    ^bb0(%[[Y:.*]]: i64, %[[X:.*]]: i64):
// CHECK-NEXT:      arith.cmpi slt, %[[X]], %[[Y]]
func.func @write_where_indices(%a: tensor<?xi64>, %b: tensor<?xi64>, %c: tensor<?xi64>,
                               %v: tensor<?x8xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%a, %b, %c, %a, %b : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
      where {
    ^bb0(%i: i64, %j: i64, %k: i64, %l: i64, %m: i64):
      %0 = arith.cmpi slt, %l, %m : i64
      kv.yield %0 : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %x : tensor<?x8xf32>
        map(affine_map<(t, i, j, k, l, m, d) -> (j, d)>)
  return %0 : tensor<?x8xf32>
}

// One index operand stays: its shape is the grid.
// CHECK-LABEL: func.func @write_grid_only
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xi64>, %[[B:[^:]*]]: tensor<?xi64>
// CHECK:         kv.write at(%[[A]] : tensor<?xi64>)
func.func @write_grid_only(%a: tensor<?xi64>, %b: tensor<?xi64>, %v: tensor<?x8xf32>,
                           %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%a, %b : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %x : tensor<?x8xf32> map(affine_map<(t, i, j, d) -> (t, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

// A row coordinate that stands alone has to cover its dimension exactly (SX10), so
// simplification leaves one alone only where it was alone before; and equal index
// operands stay two where they would cancel out.
// CHECK-LABEL: func.func @row_coordinates
// CHECK-SAME:    %[[S:[^:]*]]: memref<?xi64>
// CHECK:         kv.write at(%[[S]], %[[S]] : memref<?xi64>, memref<?xi64>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, (d3 floordiv 4) * 4 + d3 mod 4)>)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, d1 - d2 + d3)>)
func.func @row_coordinates(%s: memref<?xi64>, %v: memref<?x6xf32>, %a: memref<?x8xf32>, %b: memref<?x8xf32>) {
  kv.write at(%s, %s : memref<?xi64>, memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x6xf32> into %a : memref<?x8xf32>
        map(affine_map<(t, s, r, d) -> (s, (d floordiv 4) * 4 + d mod 4)>)
    put %v : memref<?x6xf32> into %b : memref<?x8xf32>
        map(affine_map<(t, s, r, d) -> (s, s - r + d)>)
  return
}

// -----

// Constants leave the regions, which may use what stands outside.
// CHECK-LABEL: func.func @hoisted_constants
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         kv.write
// CHECK:           arith.cmpi sge, %{{.*}}, %[[ZERO]] : i64
// CHECK:           arith.mulf %{{.*}}, %[[TWO]] : f32
func.func @hoisted_constants(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) where {
    ^bb0(%i: i64):
      %zero = arith.constant 0 : i64
      %real = arith.cmpi sge, %i, %zero : i64
      kv.yield %real : i1
    } negative(error) out_of_bounds(skip)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %two = arith.constant 2.0 : f32
      %y = arith.mulf %x, %two : f32
      kv.yield %y : f32
    }
  return %0 : tensor<?x8xf32>
}

// -----

// A region that has become the identity is not printed any more.
// CHECK-LABEL: func.func @identity_region
// CHECK:         put {{.*}} map(affine_map<(d0, d1, d2) -> (d1, d2)>){{$}}
func.func @identity_region(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f32
      kv.yield %y : f32
    }
  return
}

// -----

// Upstream folds casts of tensors into operations in destination style.
// CHECK-LABEL: func.func @tensor_casts
// CHECK-SAME:    %[[S:[^:]*]]: tensor<4xi64>, %[[V:[^:]*]]: tensor<4x8xf32>, %[[C:[^:]*]]: tensor<16x8xf32>
// CHECK:         %[[W:.*]] = kv.write at(%[[S]] : tensor<4xi64>)
// CHECK-NEXT:      put %[[V]] : tensor<4x8xf32> into %[[C]] : tensor<16x8xf32>
// CHECK:         return %[[W]] : tensor<16x8xf32>
func.func @tensor_casts(%s: tensor<4xi64>, %v: tensor<4x8xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tensor.cast %s : tensor<4xi64> to tensor<?xi64>
  %1 = tensor.cast %v : tensor<4x8xf32> to tensor<?x8xf32>
  %2 = tensor.cast %c : tensor<16x8xf32> to tensor<?x8xf32>
  %3 = kv.write at(%0 : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %1 : tensor<?x8xf32> into %2 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %4 = tensor.cast %3 : tensor<?x8xf32> to tensor<16x8xf32>
  return %4 : tensor<16x8xf32>
}
