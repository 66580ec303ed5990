// RUN: kvfuse-opt %s --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes{keep-callers})' | FileCheck %s

// A call says which operand holds each of its results in memory afterwards.

#rows = affine_map<(t, s, d) -> (s, d)>

// Each result is another cache.

// CHECK-LABEL: func.func @caches(
// CHECK:         call @{{.*}} {kv.holders = array<i64: 0, 1>, kv.written = array<i64: 0, 1>}
func.func @caches(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %a: tensor<?x8xf32> {bufferization.writable = true}, %b: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %a : tensor<?x8xf32> map(#rows)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %b : tensor<?x8xf32> map(#rows)
  return %1, %0 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Of two slices of one pool one result is left, the whole pool with both; what reads
// a slice reads it there.

// CHECK-LABEL: func.func @pool(
// CHECK:         %[[R:.*]] = call @{{.*}} {kv.holders = array<i64: 0>, kv.written = array<i64: 0>}
// CHECK-NEXT:    %[[V:.*]] = tensor.extract_slice %[[R]][1, 0, 0]
// CHECK-NEXT:    "test.read"(%[[V]])
// CHECK-NEXT:    return %[[R]]
func.func @pool(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %pool: tensor<2x64x8xf32> {bufferization.writable = true}) -> tensor<2x64x8xf32> {
  %0 = tensor.extract_slice %pool[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<2x64x8xf32> to tensor<64x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<64x8xf32> map(#rows)
  %2 = tensor.insert_slice %1 into %pool[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<2x64x8xf32>
  %3 = tensor.extract_slice %2[1, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<2x64x8xf32> to tensor<64x8xf32>
  %4 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %3 : tensor<64x8xf32> map(#rows)
  %5 = tensor.insert_slice %4 into %2[1, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<2x64x8xf32>
  "test.read"(%4) : (tensor<64x8xf32>) -> ()
  return %5 : tensor<2x64x8xf32>
}

// A second step's call is on what the first one's leaves.

// CHECK-LABEL: func.func @steps(
// CHECK:         %[[R:.*]] = call @[[WRITE:.*]](%arg3, %arg2, %arg0) {kv.holders = array<i64: 0>, kv.written = array<i64: 0>}
// CHECK:         call @[[WRITE]](%[[R]], %arg2, %arg1) {kv.holders = array<i64: 0>, kv.written = array<i64: 0>}
func.func @steps(%s: tensor<?xi64>, %t: tensor<?xi64>, %v: tensor<?x8xf32>, %a: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %a : tensor<?x8xf32> map(#rows)
  "test.read"(%0) : (tensor<?x8xf32>) -> ()
  %1 = kv.write at(%t : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(#rows)
  return %1 : tensor<?x8xf32>
}
