// RUN: kvfuse-opt %s --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes)' --remark-policy=all --remarks-filter=kvfuse 2>&1 | FileCheck %s

// What an operation marked so returns is no part of the cache that it takes:
// the cache may be written while it is in use. Of others that is not known.

// CHECK:      remark: [Missed] old-cache-live {{.*}}Function=unmarked
// CHECK-NOT:  remark:
// CHECK:      func.func @marked(
// CHECK:        call @kv_write_0(
// CHECK:      func.func @unmarked(
// CHECK-NOT:    call
// CHECK:        kv.write
func.func @marked(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %old = "test.gather"(%kc) {kv.new_results} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %old : tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @unmarked(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %old = "test.gather"(%kc) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %old : tensor<?x8xf32>, tensor<?x8xf32>
}
