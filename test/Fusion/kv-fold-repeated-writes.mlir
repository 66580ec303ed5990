// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-fold-repeated-writes)' | FileCheck %s

// A "prewritten" branch of the attention part: the write that the indexer has
// done dominates it, so the flag does not matter.

// CHECK-LABEL: func.func @prewritten(
// CHECK:         %[[C:.*]] = kv.write
// CHECK-NOT:     kv.write
// CHECK-NOT:     scf.if
// CHECK:         "unknown.attend"(%[[C]])
// CHECK-NEXT:    return %[[C]]
func.func @prewritten(%b: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %r = scf.if %b -> tensor<?x8xf32> {
    scf.yield %0 : tensor<?x8xf32>
  } else {
    %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %1 : tensor<?x8xf32>
  }
  "unknown.attend"(%r) : (tensor<?x8xf32>) -> ()
  return %r : tensor<?x8xf32>
}

// -----

// Nobody has written before: the branch survives.

// CHECK-LABEL: func.func @not_written(
// CHECK:         scf.if
// CHECK:           kv.write
func.func @not_written(%b: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = scf.if %b -> tensor<?x8xf32> {
    scf.yield %c : tensor<?x8xf32>
  } else {
    %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %1 : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

// The earlier write may not have been done: it is in a branch itself.

// CHECK-LABEL: func.func @maybe_written(
// CHECK-COUNT-2: kv.write
func.func @maybe_written(%b: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = scf.if %b -> tensor<?x8xf32> {
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %0 : tensor<?x8xf32>
  } else {
    scf.yield %c : tensor<?x8xf32>
  }
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %r : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %1 : tensor<?x8xf32>
}

// -----

// Another write of the same cache stands between: of other rows it does no
// harm if they are disjoint, as column boxes are, but not if they may be the
// same.

// CHECK-LABEL: func.func @between(
// CHECK-COUNT-2: kv.write
// CHECK-NOT:     kv.write
// CHECK-LABEL: func.func @overwritten(
// CHECK-COUNT-3: kv.write
func.func @between(%s: tensor<?xi64>, %v: tensor<?x4xf32>, %w: tensor<?x4xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4xf32> into %c : tensor<?x8xf32> box map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : tensor<?x4xf32> into %0 : tensor<?x8xf32> box map(affine_map<(t, s, d) -> (s, d + 4)>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4xf32> into %1 : tensor<?x8xf32> box map(affine_map<(t, s, d) -> (s, d)>)
  return %2 : tensor<?x8xf32>
}
func.func @overwritten(%s: tensor<?xi64>, %s2: tensor<?xi64>, %v: tensor<?x8xf32>, %w: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s2 : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %1 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %2 : tensor<?x8xf32>
}

// -----

// K of a pool is repeated, with V written in between, directly and in a branch.

// CHECK-LABEL: func.func @pool(
// CHECK-COUNT-2: kv.write
// CHECK-NOT:     kv.write
// CHECK:         %[[P:.*]] = tensor.insert_slice
// CHECK-NEXT:    return %[[P]]
func.func @pool(%b: i1, %s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %k2 = tensor.extract_slice %p2[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k3 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k2 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p3 = tensor.insert_slice %k3 into %p2[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %p4 = scf.if %b -> tensor<2x16x8xf32> {
    scf.yield %p3 : tensor<2x16x8xf32>
  } else {
    %k4 = tensor.extract_slice %p3[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
    %k5 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %k : tensor<?x8xf32> into %k4 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    %p5 = tensor.insert_slice %k5 into %p3[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
    scf.yield %p5 : tensor<2x16x8xf32>
  }
  return %p4 : tensor<2x16x8xf32>
}

// -----

// Other values, another map, another mask or another slice: nothing is repeated.
// Nor is a write removed for being overwritten.

// CHECK-LABEL: func.func @different(
// CHECK-COUNT-5: kv.write
func.func @different(%s: tensor<?xi64>, %m: tensor<?xi1>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %c: tensor<16x8xf32>, %d: tensor<2x16x8xf32>) -> (tensor<16x8xf32>, tensor<2x16x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %c : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %2 = kv.write at(%s : tensor<?xi64>) mask(%m : tensor<?xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %1 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %3 = kv.write at(%s : tensor<?xi64>) mask(%m : tensor<?xi1>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %d : tensor<2x16x8xf32> map(affine_map<(t, s, d) -> (0, s, d)>)
  %4 = kv.write at(%s : tensor<?xi64>) mask(%m : tensor<?xi1>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %3 : tensor<2x16x8xf32> map(affine_map<(t, s, d) -> (1, s, d)>)
  return %2, %4 : tensor<16x8xf32>, tensor<2x16x8xf32>
}
