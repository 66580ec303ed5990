// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-group-writes)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-group-writes)' -o /dev/null \
// RUN:   --remarks-filter=kvfuse --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=total --remark-name=different-indices %t.yaml | FileCheck %s --check-prefix=COUNT

// COUNT: 2

// K and V of one pool. V moves up with its slice, past a reader of K, who reads
// the version behind both.

// CHECK-LABEL: func.func @up(
// CHECK:         %[[Y:.*]] = arith.negf
// CHECK-NEXT:    tensor.extract_slice %arg3[0, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %arg1
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice {{.*}} into %arg3[0, 0, 0]
// CHECK-NEXT:    tensor.extract_slice %[[P1]][1, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[Y]]
// CHECK-NEXT:    %[[P2:.*]] = tensor.insert_slice {{.*}} into %[[P1]][1, 0, 0]
// CHECK:         %[[K:.*]] = tensor.extract_slice %[[P2]][0, 0, 0]
// CHECK-NEXT:    "unknown.read"(%[[K]])
// CHECK-NEXT:    return %[[P2]]
func.func @up(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %k2 = tensor.extract_slice %p1[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  "unknown.read"(%k2) : (tensor<16x8xf32>) -> ()
  %y = arith.negf %v : tensor<?x8xf32>
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %y : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %p2 : tensor<2x16x8xf32>
}

// -----

// V's values come from an operation that may not move: K moves down, with what
// takes its slice out and puts it back.

// CHECK-LABEL: func.func @down(
// CHECK-NEXT:    %[[X:.*]] = "unknown.make"
// CHECK-NEXT:    tensor.extract_slice %arg2[0, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %arg1
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice
// CHECK-NEXT:    tensor.extract_slice %[[P1]][1, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[X]]
// CHECK-NEXT:    tensor.insert_slice {{.*}} into %[[P1]][1, 0, 0]
func.func @down(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %x = "unknown.make"() : () -> tensor<?x8xf32>
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %p2 : tensor<2x16x8xf32>
}

// -----

// The whole pool is read in between, and V's values cannot move.

// CHECK-LABEL: func.func @order(
// CHECK:         tensor.insert_slice
// CHECK-NEXT:    "unknown.make"
func.func @order(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %x = "unknown.make"() : () -> tensor<?x8xf32>
  "unknown.read"(%p1) : (tensor<2x16x8xf32>) -> ()
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  // expected-remark-re @below {{[Missed] order | Category:kvfuse | Function=order | Cause=loc("{{.*}}":{{[0-9]+}}:3), Reason="'unknown.read' stands between this write and the one before it", Suggestion="write all caches of a layer before any of them is read"}}
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %p2 : tensor<2x16x8xf32>
}

// -----

// Several writes of one cache through maps: other columns, or another half of
// the selector's dimension, are other rows. The same columns are not (SM2): that
// is another group.

// CHECK-LABEL: func.func @maps(
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %arg1 {{.*}} into %arg3
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %arg2 {{.*}} into %{{[0-9]+}}
// CHECK-NEXT:    "unknown.op"
// CHECK-NEXT:    kv.write
func.func @maps(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %c: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %c : tensor<2x16x8xf32> map(affine_map<(t, s, d) -> (0, s, d)>)
  "unknown.op"(%k) : (tensor<?x8xf32>) -> ()
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<2x16x8xf32> map(affine_map<(t, s, d) -> (1, s, d)>)
  // expected-remark-re @below {{[Missed] dest-alias | Category:kvfuse | Function=maps | Cause=loc("{{.*}}":{{[0-9]+}}:8), Reason="this write and an earlier one may put rows into one part of a buffer"{{.*}}}}
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %1 : tensor<2x16x8xf32> map(affine_map<(t, s, d) -> (1, s, d)>)
  return %2 : tensor<2x16x8xf32>
}

// -----

// V's values are what K's write has left in the pool.

// CHECK-LABEL: func.func @values_from_group(
// CHECK:         kv.write
// CHECK:         tensor.extract_slice {{.*}}[0, 0, 0] [1, 4, 8]
// CHECK:         kv.write
func.func @values_from_group(%s: tensor<4xi64>, %k: tensor<4x8xf32>, %pool: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<4x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  %v = tensor.extract_slice %p1[0, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<4x8xf32>
  %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %p2 : tensor<2x16x8xf32>
}

// -----

// Nothing but other tokens, and another policy, keeps these apart; the reader
// separates the last two anyway, and values that need the write before it.

func.func @tokens(%s: tensor<?xi64>, %s2: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>, %d: tensor<?x8xf32>, %e: tensor<?x8xf32>, %f: tensor<?x8xf32>, %g: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %y = arith.negf %v : tensor<?x8xf32>
  // expected-remark-re @below {{[Missed] different-indices | Category:kvfuse | Function=tokens | Cause=loc("{{.*}}":{{[0-9]+}}:8), Reason="the write before this one has other index vectors, another mask or other policies", Suggestion="compute the indices of both from the same vectors"}}
  %1 = kv.write at(%s2 : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %y : tensor<?x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{different-indices}}
  %2 = kv.write at(%s2 : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
    put %k : tensor<?x8xf32> into %e : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%2) : (tensor<?x8xf32>) -> ()
  %3 = kv.write at(%s : tensor<?xi64>) negative(error) out_of_bounds(skip)
    put %k : tensor<?x8xf32> into %f : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %z = arith.negf %3 : tensor<?x8xf32>
  %4 = kv.write at(%s2 : tensor<?xi64>) negative(error) out_of_bounds(skip)
    put %z : tensor<?x8xf32> into %g : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2, %3, %4 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Where two slices begin only the running program knows. They stay in order, and
// kv-version-layouts tests whether they overlap.

// CHECK-LABEL: func.func @dynamic(
// CHECK-NEXT:    tensor.extract_slice %arg3[%arg4, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %arg1
// CHECK-NEXT:    %[[P1:.*]] = tensor.insert_slice {{.*}} into %arg3[%arg4, 0, 0]
// CHECK-NEXT:    tensor.extract_slice %[[P1]][%arg5, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %arg2
// CHECK-NEXT:    tensor.insert_slice {{.*}} into %[[P1]][%arg5, 0, 0]
// CHECK-NEXT:    "unknown.op"
func.func @dynamic(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<2x16x8xf32>, %a: index, %b: index) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[%a, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[%a, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  "unknown.op"(%k) : (tensor<?x8xf32>) -> ()
  %v0 = tensor.extract_slice %p1[%b, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[%b, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %p2 : tensor<2x16x8xf32>
}

// -----

// Rows from the first one on, and from the eighth one on.

// CHECK-LABEL: func.func @sizes(
// CHECK:         kv.write
// CHECK:         kv.write
// CHECK:         "unknown.op"
func.func @sizes(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<32x8xf32>, %n: index, %m: index) -> tensor<32x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [%n, 8] [1, 1] : tensor<32x8xf32> to tensor<?x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<32x8xf32>
  "unknown.op"(%k) : (tensor<?x8xf32>) -> ()
  %v0 = tensor.extract_slice %p1[8, 0] [%m, 8] [1, 1] : tensor<32x8xf32> to tensor<?x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[8, 0] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<32x8xf32>
  return %p2 : tensor<32x8xf32>
}

// -----

// One place, wherever it is; and columns that meet in any number of rows.

// CHECK-LABEL: func.func @one_place(
// CHECK:         kv.write
// CHECK:         "unknown.op"
// CHECK:         kv.write
func.func @one_place(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<2x16x8xf32>, %a: index) -> tensor<2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[%a, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[%a, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  "unknown.op"(%k) : (tensor<?x8xf32>) -> ()
  %v0 = tensor.extract_slice %p1[%a, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  // expected-remark @below {{dest-alias}}
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[%a, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %p2 : tensor<2x16x8xf32>
}

// CHECK-LABEL: func.func @columns(
// CHECK:         kv.write
// CHECK:         "unknown.op"
// CHECK:         kv.write
func.func @columns(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<32x16xf32>, %n: index) -> tensor<32x16xf32> {
  %k0 = tensor.extract_slice %pool[0, 0] [%n, 8] [1, 1] : tensor<32x16xf32> to tensor<?x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<32x16xf32>
  "unknown.op"(%k) : (tensor<?x8xf32>) -> ()
  %v0 = tensor.extract_slice %p1[0, 4] [%n, 8] [1, 1] : tensor<32x16xf32> to tensor<?x8xf32>
  // expected-remark @below {{dest-alias}}
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %v0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[0, 4] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<32x16xf32>
  return %p2 : tensor<32x16xf32>
}
