// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-normalize-slices)' | FileCheck %s

// K and V are taken out first, read, and put back last, the size of the pool
// asked for in between. The reader reads the newest version.

// CHECK-LABEL: func.func @at_once(
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[K:[^:]*]]: tensor<?x8xf32>, %[[V:[^:]*]]: tensor<?x8xf32>, %[[P0:[^:]*]]: tensor<2x?x8xf32>)
// CHECK:         %[[N:.*]] = tensor.dim %[[P0]]
// CHECK-NEXT:    %[[K0:.*]] = tensor.extract_slice %[[P0]][0, 0, 0] [1, %[[N]], 8]
// CHECK-NEXT:    %[[K1:.*]] = kv.write
// CHECK-NEXT:      put %[[K]] : {{.*}} into %[[K0]]
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice %[[K1]] into %[[P0]][0, 0, 0] [1, %[[N]], 8]
// CHECK-NEXT:    %[[V0:.*]] = tensor.extract_slice %[[P1]][1, 0, 0] [1, %[[N]], 8]
// CHECK-NEXT:    %[[V1:.*]] = kv.write
// CHECK-NEXT:      put %[[V]] : {{.*}} into %[[V0]]
// CHECK-NEXT:    %[[P2:.*]] = tensor.insert_slice %[[V1]] into %[[P1]][1, 0, 0] [1, %[[N]], 8]
// CHECK-NEXT:    %[[K2:.*]] = tensor.extract_slice %[[P2]][0, 0, 0]
// CHECK-NEXT:    %[[V2:.*]] = tensor.extract_slice %[[P2]][1, 0, 0]
// CHECK-NEXT:    "unknown.read"(%[[K2]], %[[V2]])
// CHECK:         return %[[P2]]
func.func @at_once(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %pool, %c1 : tensor<2x?x8xf32>
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<?x8xf32>
  %v0 = tensor.extract_slice %pool[1, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<?x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%k1, %v1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> ()
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<2x?x8xf32>
  %m = tensor.dim %p1, %c1 : tensor<2x?x8xf32>
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, %m, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<2x?x8xf32>
  return %p2 : tensor<2x?x8xf32>
}

// -----

// The slice of a layer, and K and V as slices of that.

// CHECK-LABEL: func.func @nested(
// CHECK:         %[[K0:.*]] = tensor.extract_slice %[[P0:.*]][3, 0, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    %[[K1:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %[[K0]]
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice %[[K1]] into %[[P0]][3, 0, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    %[[V0:.*]] = tensor.extract_slice %[[P1]][3, 1, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    %[[V1:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %[[V0]]
// CHECK-NEXT:    %[[P2:.*]] = tensor.insert_slice %[[V1]] into %[[P1]][3, 1, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    return %[[P2]]
func.func @nested(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<6x2x16x8xf32>) -> tensor<6x2x16x8xf32> {
  %l0 = tensor.extract_slice %pool[3, 0, 0, 0] [1, 2, 16, 8] [1, 1, 1, 1] : tensor<6x2x16x8xf32> to tensor<2x16x8xf32>
  %k0 = tensor.extract_slice %l0[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %l1 = tensor.insert_slice %k1 into %l0[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %v0 = tensor.extract_slice %l1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %l2 = tensor.insert_slice %v1 into %l1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %p1 = tensor.insert_slice %l2 into %pool[3, 0, 0, 0] [1, 2, 16, 8] [1, 1, 1, 1] : tensor<2x16x8xf32> into tensor<6x2x16x8xf32>
  return %p1 : tensor<6x2x16x8xf32>
}

// -----

// The old contents of a slice that overlaps the written one stay what they were:
// only the disjoint slice is one of the newest version.

// CHECK-LABEL: func.func @overlapping(
// CHECK:         %[[OLD:.*]] = tensor.extract_slice %[[P0:.*]][7, 0] [4, 8]
// CHECK:         %[[P1:.*]] = tensor.insert_slice
// CHECK-NEXT:    %[[NEW:.*]] = tensor.extract_slice %[[P1]][8, 0] [4, 8]
// CHECK-NEXT:    "unknown.read"(%[[OLD]], %[[NEW]])
func.func @overlapping(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = tensor.extract_slice %pool[7, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
  %b = tensor.extract_slice %pool[8, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
  %k0 = tensor.extract_slice %pool[0, 0] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
  "unknown.read"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> ()
  return %p1 : tensor<16x8xf32>
}

// -----

// What is put back elsewhere is no write of the slice, and a function without
// writes is nobody's business.

// CHECK-LABEL: func.func @elsewhere(
// CHECK:         kv.write
// CHECK:         "unknown.op"
// CHECK-NEXT:    tensor.insert_slice {{.*}}[8, 0] [8, 8]
// CHECK-NEXT:    return
func.func @elsewhere(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  %p1 = tensor.insert_slice %k1 into %pool[8, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
  return %p1 : tensor<16x8xf32>
}

// -----

// A constant coordinate selects a slice, if it is known to lie inside; its size
// is asked of the argument, once. Coordinates that are sums are no slices. Beside
// a dimension of size 1 it is not clear which one a slice of a buffer drops.

// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[P0:[^:]*]]: tensor<6x?x2x8xf32>)
// CHECK:         %[[N:.*]] = tensor.dim %[[P0]]
// CHECK-NEXT:    %[[K0:.*]] = tensor.extract_slice %[[P0]][3, 0, 0, 0] [1, %[[N]], 1, 8]
// CHECK-SAME:      to tensor<?x8xf32>
// CHECK-NEXT:    %[[K1:.*]] = kv.write
// CHECK-NEXT:      put %arg1 : {{.*}} into %[[K0]] : tensor<?x8xf32> map(#[[MAP:.*]])
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice %[[K1]] into %[[P0]][3, 0, 0, 0] [1, %[[N]], 1, 8]
// CHECK-NEXT:    %[[V0:.*]] = tensor.extract_slice %[[P1]][3, 0, 1, 0] [1, %[[N]], 1, 8]
// CHECK-NEXT:    %[[V1:.*]] = kv.write
// CHECK-NEXT:      put
// CHECK-NEXT:    tensor.insert_slice %[[V1]] into %[[P1]][3, 0, 1, 0] [1, %[[N]], 1, 8]
// CHECK-LABEL: func.func @outside(
// CHECK-NOT:     tensor.extract_slice
// CHECK-LABEL: func.func @beside_unit_dimension(
// CHECK-NOT:     tensor.extract_slice
func.func @constants(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<6x?x2x8xf32>) -> tensor<6x?x2x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %pool : tensor<6x?x2x8xf32> map(affine_map<(t, s, d) -> (3, s, 0, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %0 : tensor<6x?x2x8xf32> map(affine_map<(t, s, d) -> (3, s, 1, d)>)
  return %1 : tensor<6x?x2x8xf32>
}
func.func @outside(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<6x?x8xf32>, %c: tensor<?x?x8xf32>) -> (tensor<6x?x8xf32>, tensor<6x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
    put %k : tensor<?x8xf32> into %pool : tensor<6x?x8xf32> map(affine_map<(t, s, d) -> (6, s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
    put %k : tensor<?x8xf32> into %pool : tensor<6x?x8xf32> map(affine_map<(t, s, d) -> (-1, s, d)>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
    put %k : tensor<?x8xf32> into %c : tensor<?x?x8xf32> map(affine_map<(t, s, d) -> (0, s, d)>)
  return %0, %1, %2 : tensor<6x?x8xf32>, tensor<6x?x8xf32>, tensor<?x?x8xf32>
}
func.func @beside_unit_dimension(%s: tensor<?xi64>, %k: tensor<?x1x8xf32>, %c: tensor<?x1x8x3xf32>) -> tensor<?x1x8x3xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
    put %k : tensor<?x1x8xf32> into %c : tensor<?x1x8x3xf32> map(affine_map<(t, s, h, d) -> (s, h, d, 2)>)
  return %0 : tensor<?x1x8x3xf32>
}

// -----

// K and V are taken out of one version, and their heads selected by a constant:
// V's slice, and what is put back into it, are of the version that K leaves, and
// so not of the one that the reader between needs.

// CHECK-LABEL: func.func @early_parts(
// CHECK-SAME:    %[[P0:[^:]*]]: tensor<2x16x3x8xf32>)
// CHECK:         %[[K0:.*]] = tensor.extract_slice %[[P0]][0, 0, 1, 0] [1, 16, 1, 8]
// CHECK-NEXT:    %[[K1:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %[[K0]]
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice %[[K1]] into %[[P0]][0, 0, 1, 0] [1, 16, 1, 8]
// CHECK-NOT:     %[[P0]]
// CHECK:         "unknown.read"(%[[P1]])
// CHECK-NEXT:    %[[V0:.*]] = tensor.extract_slice %[[P1]][1, 0, 2, 0] [1, 16, 1, 8]
// CHECK-NEXT:    %[[V1:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %[[V0]]
// CHECK-NEXT:    %[[P2:.*]] = tensor.insert_slice %[[V1]] into %[[P1]][1, 0, 2, 0] [1, 16, 1, 8]
// CHECK-NEXT:    return %[[P2]]
func.func @early_parts(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<2x16x3x8xf32>) -> tensor<2x16x3x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<2x16x3x8xf32> to tensor<16x3x8xf32>
  %v0 = tensor.extract_slice %pool[1, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<2x16x3x8xf32> to tensor<16x3x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x3x8xf32> map(affine_map<(t, s, d) -> (s, 1, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<16x3x8xf32> into tensor<2x16x3x8xf32>
  "unknown.read"(%p1) : (tensor<2x16x3x8xf32>) -> ()
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<16x3x8xf32> map(affine_map<(t, s, d) -> (s, 2, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<16x3x8xf32> into tensor<2x16x3x8xf32>
  return %p2 : tensor<2x16x3x8xf32>
}

// -----

// Three slices in one another: a layer, K and V of it, and a head.

// CHECK-LABEL: func.func @layer_part_head(
// CHECK:         %[[K0:.*]] = tensor.extract_slice %[[P0:.*]][3, 0, 0, 1, 0] [1, 1, 16, 1, 8]
// CHECK-NEXT:    %[[K1:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %[[K0]]
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice %[[K1]] into %[[P0]][3, 0, 0, 1, 0] [1, 1, 16, 1, 8]
// CHECK-NOT:     %[[P0]]
// CHECK:         %[[V0:.*]] = tensor.extract_slice %[[P1]][3, 1, 0, 2, 0] [1, 1, 16, 1, 8]
// CHECK-NEXT:    %[[V1:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %[[V0]]
// CHECK-NEXT:    %[[P2:.*]] = tensor.insert_slice %[[V1]] into %[[P1]][3, 1, 0, 2, 0] [1, 1, 16, 1, 8]
// CHECK-NEXT:    return %[[P2]]
func.func @layer_part_head(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<6x2x16x3x8xf32>) -> tensor<6x2x16x3x8xf32> {
  %l0 = tensor.extract_slice %pool[3, 0, 0, 0, 0] [1, 2, 16, 3, 8] [1, 1, 1, 1, 1] : tensor<6x2x16x3x8xf32> to tensor<2x16x3x8xf32>
  %k0 = tensor.extract_slice %l0[0, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<2x16x3x8xf32> to tensor<16x3x8xf32>
  %v0 = tensor.extract_slice %l0[1, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<2x16x3x8xf32> to tensor<16x3x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x3x8xf32> map(affine_map<(t, s, d) -> (s, 1, d)>)
  %l1 = tensor.insert_slice %k1 into %l0[0, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<16x3x8xf32> into tensor<2x16x3x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<16x3x8xf32> map(affine_map<(t, s, d) -> (s, 2, d)>)
  %l2 = tensor.insert_slice %v1 into %l1[1, 0, 0, 0] [1, 16, 3, 8] [1, 1, 1, 1] : tensor<16x3x8xf32> into tensor<2x16x3x8xf32>
  %p1 = tensor.insert_slice %l2 into %pool[3, 0, 0, 0, 0] [1, 2, 16, 3, 8] [1, 1, 1, 1, 1] : tensor<2x16x3x8xf32> into tensor<6x2x16x3x8xf32>
  return %p1 : tensor<6x2x16x3x8xf32>
}

// -----

// Canonicalization skips a version that is written over: the second insertion
// goes into the oldest one. Putting back what was just taken out is nothing.

// CHECK-LABEL: func.func @skipped_version(
// CHECK-SAME:      %[[POOL:[^:]*]]: tensor<2x8x8xf32>
// CHECK:         %[[A:.*]] = tensor.extract_slice %[[POOL]][0, 0, 0]
// CHECK:         %[[AW:.*]] = kv.write
// CHECK:           into %[[A]]
// CHECK:         %[[P1:.*]] = tensor.insert_slice %[[AW]] into %[[POOL]][0, 0, 0]
// CHECK:         %[[B:.*]] = tensor.extract_slice %[[P1]][0, 0, 0]
// CHECK:         %[[BW:.*]] = kv.write
// CHECK:           into %[[B]]
// CHECK:         %[[P2:.*]] = tensor.insert_slice %[[BW]] into %[[P1]][0, 0, 0]
// CHECK:         scf.if
// CHECK-NEXT:      scf.yield %[[P2]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[P2]]
func.func @skipped_version(%pool: tensor<2x8x8xf32>, %s: tensor<?xi64>, %t: tensor<?xi64>, %k: tensor<?x8xf32>, %flag: i1) -> tensor<2x8x8xf32> {
  %0 = tensor.extract_slice %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %1 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  %2 = kv.write at(%t : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %1 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %2 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  %r = scf.if %flag -> tensor<2x8x8xf32> {
    scf.yield %p2 : tensor<2x8x8xf32>
  } else {
    %p3 = tensor.insert_slice %2 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
    scf.yield %p3 : tensor<2x8x8xf32>
  }
  return %r : tensor<2x8x8xf32>
}
