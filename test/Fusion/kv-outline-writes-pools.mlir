// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-normalize-slices,kv-outline-writes)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-normalize-slices,kv-outline-writes)' -o /dev/null \
// RUN:   --remarks-filter=kvfuse --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=total --remark-name=old-cache-live %t.yaml | FileCheck %s --check-prefix=LIVE
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=total --remark-name=alias-value %t.yaml | FileCheck %s --check-prefix=ALIAS

// LIVE: 7
// ALIAS: 2

// SM5 and SM3 for slices of pools: what may not be done in place is left.

// A slice that overlaps the written one is read after the write; so is the whole
// old pool.

// CHECK-LABEL: func.func @overlapping(
// CHECK:         kv.write
// CHECK-LABEL: func.func @whole(
// CHECK:         kv.write
func.func @overlapping(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<16x8xf32> {bufferization.writable = true}) -> tensor<16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
  %old = tensor.extract_slice %pool[7, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
  // expected-remark-re @below {{[Missed] old-cache-live | Category:kvfuse | Function=overlapping | Cause=loc("{{.*}}":{{[0-9]+}}:3), Reason="the contents before this write are used after it, by 'unknown.read'", Suggestion="use the cache that the write returns, or read before it"}}
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
  "unknown.read"(%old) : (tensor<4x8xf32>) -> ()
  return %p1 : tensor<16x8xf32>
}
func.func @whole(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<16x8xf32> {bufferization.writable = true}) -> tensor<16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{used after it, by 'func.return'}}
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
  "unknown.read"(%p1) : (tensor<16x8xf32>) -> ()
  return %pool : tensor<16x8xf32>
}

// -----

// The result is put back somewhere else, or to another version of the pool.

// CHECK-LABEL: func.func @elsewhere(
// CHECK:         kv.write
// CHECK-LABEL: func.func @another_version(
// CHECK:         kv.write
func.func @elsewhere(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<16x8xf32> {bufferization.writable = true}) -> tensor<16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{used after it, by 'tensor.insert_slice'}}
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[8, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
  return %p1 : tensor<16x8xf32>
}
func.func @another_version(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<16x8xf32> {bufferization.writable = true}) -> tensor<16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{used after it, by 'unknown.op'}}
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %q = "unknown.op"(%pool) : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %p1 = tensor.insert_slice %k1 into %q[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
  return %p1 : tensor<16x8xf32>
}

// -----

// A view of an old slice lives on, through the write of a disjoint slice, until
// its own slice is written. Until its last use the slice may be written.

// CHECK-LABEL: func.func @view_of_slice(
// CHECK:         call @kv_write_0
// CHECK:         kv.write
// CHECK-LABEL: func.func @used_before(
// CHECK-NOT:     kv.write
// CHECK:         return
func.func @view_of_slice(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<2x8x8xf32> {bufferization.writable = true}) -> tensor<2x8x8xf32> {
  %old = tensor.extract_slice %pool[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  %view = "unknown.view"(%old) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{[Passed] fused}}
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{used after it, by 'unknown.read'}}
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %v0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  "unknown.read"(%view) : (tensor<8x8xf32>) -> ()
  return %p2 : tensor<2x8x8xf32>
}
func.func @used_before(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<2x8x8xf32> {bufferization.writable = true}) -> tensor<2x8x8xf32> {
  %old = tensor.extract_slice %pool[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  %view = "unknown.view"(%old) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{[Passed] fused}}
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  "unknown.read"(%view) : (tensor<8x8xf32>) -> ()
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{[Passed] fused}}
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %v0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  return %p2 : tensor<2x8x8xf32>
}

// -----

// Values: what an unknown operation makes of a slice may share memory with that
// slice, and of the pool with all of it. Such a write reads a copy.

// CHECK-LABEL: func.func @values(
// CHECK:         call @kv_write_0
// CHECK:         call @[[COPIES:[a-z_0-9]+]](
// CHECK-LABEL: func.func @values_of_pool(
// CHECK:         call @[[COPIES]](
// CHECK:       func.func @[[COPIES]](
// CHECK-SAME:      %[[POOL:[^: ]*]]: tensor<2x8x8xf32> {bufferization.writable = true}
// CHECK-SAME:      %[[X:[^:, ]*]]: tensor<8x8xf32>
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK:         tensor.extract_slice %[[POOL]]
// CHECK:         put %[[COPY]]
// CHECK-SAME:      kv.refused = "alias-value"
func.func @values(%s: tensor<8xi64>, %pool: tensor<2x8x8xf32> {bufferization.writable = true}) -> tensor<2x8x8xf32> {
  %old = tensor.extract_slice %pool[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  %x = "unknown.view"(%old) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{[Passed] fused}}
  %k1 = kv.write at(%s : tensor<8xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<8x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark @below {{alias-value}}
  %v1 = kv.write at(%s : tensor<8xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<8x8xf32> into %v0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  return %p2 : tensor<2x8x8xf32>
}
func.func @values_of_pool(%s: tensor<8xi64>, %pool: tensor<2x8x8xf32> {bufferization.writable = true}) -> tensor<2x8x8xf32> {
  %x = "unknown.view"(%pool) : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<2x8x8xf32> to tensor<8x8xf32>
  // expected-remark-re @below {{[Missed] alias-value | Category:kvfuse | Function=values_of_pool | Cause=loc({{.*}}), Reason="what the write reads may share memory with the cache", Suggestion="copy the values before they are written"}}
  %k1 = kv.write at(%s : tensor<8xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<8x8xf32> into %k0 : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<2x8x8xf32>
  return %p1 : tensor<2x8x8xf32>
}

// -----

// Loops: the old version is used behind a write, in the same round or, coming
// back as another iteration argument, in the next one; or it was not given to
// the loop, and is the same in every round.

// CHECK-LABEL: func.func @old_in_round(
// CHECK:         kv.write
// CHECK-LABEL: func.func @comes_back(
// CHECK:         kv.write
func.func @old_in_round(%n: index, %s: tensor<?xi64>, %k: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %r = scf.for %i = %i0 to %n step %i1 iter_args(%x = %c) -> tensor<?x8xf32> {
    // expected-remark @below {{used again in the next round of 'scf.for'}}
    %y = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %k : tensor<?x8xf32> into %x : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    "unknown.read"(%c) : (tensor<?x8xf32>) -> ()
    scf.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
func.func @comes_back(%n: index, %s: tensor<?xi64>, %k: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %r:2 = scf.for %i = %i0 to %n step %i1 iter_args(%x = %c, %z = %k) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    // expected-remark @below {{used after it, by 'unknown.read'}}
    %y = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %k : tensor<?x8xf32> into %x : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    "unknown.read"(%z) : (tensor<?x8xf32>) -> ()
    %view = "unknown.view"(%y) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %y, %view : tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0 : tensor<?x8xf32>
}
