// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-group-writes)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// The six orders of K, V and index-K, with known operations between them. What
// computes the operands of a later write moves up.

// CHECK-LABEL: func.func @kvi(
// CHECK-SAME:    %arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: tensor<?x8xf32>, %[[KC:[^:]*]]: tensor<?x8xf32>, %[[VC:[^:]*]]: tensor<?x8xf32>, %[[IC:[^:]*]]: tensor<?x8xf32>)
// CHECK-COUNT-3: arith.negf
// CHECK:           kv.write
// CHECK-NEXT:      put {{.*}} into %[[KC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[VC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[IC]]
// CHECK-NEXT:    return
func.func @kvi(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %nk = arith.negf %k : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nk : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nv = arith.negf %v : tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nv : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %ni = arith.negf %i : tensor<?x8xf32>
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %ni : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @kiv(
// CHECK-SAME:    %arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: tensor<?x8xf32>, %[[KC:[^:]*]]: tensor<?x8xf32>, %[[VC:[^:]*]]: tensor<?x8xf32>, %[[IC:[^:]*]]: tensor<?x8xf32>)
// CHECK-COUNT-3: arith.negf
// CHECK:           kv.write
// CHECK-NEXT:      put {{.*}} into %[[KC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[IC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[VC]]
// CHECK-NEXT:    return
func.func @kiv(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %nk = arith.negf %k : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nk : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %ni = arith.negf %i : tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %ni : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nv = arith.negf %v : tensor<?x8xf32>
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nv : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @vki(
// CHECK-SAME:    %arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: tensor<?x8xf32>, %[[KC:[^:]*]]: tensor<?x8xf32>, %[[VC:[^:]*]]: tensor<?x8xf32>, %[[IC:[^:]*]]: tensor<?x8xf32>)
// CHECK-COUNT-3: arith.negf
// CHECK:           kv.write
// CHECK-NEXT:      put {{.*}} into %[[VC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[KC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[IC]]
// CHECK-NEXT:    return
func.func @vki(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %nv = arith.negf %v : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nv : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nk = arith.negf %k : tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nk : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %ni = arith.negf %i : tensor<?x8xf32>
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %ni : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @vik(
// CHECK-SAME:    %arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: tensor<?x8xf32>, %[[KC:[^:]*]]: tensor<?x8xf32>, %[[VC:[^:]*]]: tensor<?x8xf32>, %[[IC:[^:]*]]: tensor<?x8xf32>)
// CHECK-COUNT-3: arith.negf
// CHECK:           kv.write
// CHECK-NEXT:      put {{.*}} into %[[VC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[IC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[KC]]
// CHECK-NEXT:    return
func.func @vik(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %nv = arith.negf %v : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nv : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %ni = arith.negf %i : tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %ni : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nk = arith.negf %k : tensor<?x8xf32>
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nk : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @ikv(
// CHECK-SAME:    %arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: tensor<?x8xf32>, %[[KC:[^:]*]]: tensor<?x8xf32>, %[[VC:[^:]*]]: tensor<?x8xf32>, %[[IC:[^:]*]]: tensor<?x8xf32>)
// CHECK-COUNT-3: arith.negf
// CHECK:           kv.write
// CHECK-NEXT:      put {{.*}} into %[[IC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[KC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[VC]]
// CHECK-NEXT:    return
func.func @ikv(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %ni = arith.negf %i : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %ni : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nk = arith.negf %k : tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nk : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nv = arith.negf %v : tensor<?x8xf32>
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nv : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @ivk(
// CHECK-SAME:    %arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: tensor<?x8xf32>, %[[KC:[^:]*]]: tensor<?x8xf32>, %[[VC:[^:]*]]: tensor<?x8xf32>, %[[IC:[^:]*]]: tensor<?x8xf32>)
// CHECK-COUNT-3: arith.negf
// CHECK:           kv.write
// CHECK-NEXT:      put {{.*}} into %[[IC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[VC]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[KC]]
// CHECK-NEXT:    return
func.func @ivk(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %ni = arith.negf %i : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %ni : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nv = arith.negf %v : tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nv : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %nk = arith.negf %k : tensor<?x8xf32>
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %nk : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Operations that are not known may stand between, if they take no cache.

// CHECK-LABEL: func.func @unknown(
// CHECK:         kv.write
// CHECK-NEXT:      put {{.*}} into %arg3
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %arg4
// CHECK-NEXT:    "unknown.op"(%arg1)
// CHECK-NEXT:    return
func.func @unknown(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"(%k) : (tensor<?x8xf32>) -> ()
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// The values of the later write are computed by an operation that may not move:
// the earlier write moves down to it, a type cast of its result behind both.

// CHECK-LABEL: func.func @down(
// CHECK-NEXT:    %[[X:.*]] = "unknown.make"
// CHECK-NEXT:    %[[K:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %arg2
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[X]] : {{.*}} into %arg3
// CHECK-NEXT:    %[[C:.*]] = tensor.cast %[[K]]
// CHECK-NEXT:    return %[[C]]
func.func @down(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<16x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %c = tensor.cast %0 : tensor<?x8xf32> to tensor<16x8xf32>
  %x = "unknown.make"() : () -> tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %c, %1 : tensor<16x8xf32>, tensor<?x8xf32>
}

// -----

// Somebody reads the old contents of the later write's cache: it may not move
// up, for the reader would see the new ones. The earlier write moves down.

// CHECK-LABEL: func.func @old_contents(
// CHECK-NEXT:    "unknown.read"(%arg4)
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %arg3
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %arg4
func.func @old_contents(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%vc) : (tensor<?x8xf32>) -> ()
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Neither way: the first result is read, and the second write's values come from
// an operation that may not move.

// CHECK-LABEL: func.func @order(
// CHECK-NEXT:    %[[K:.*]] = kv.write
// CHECK-NEXT:      put
// CHECK-NEXT:    "unknown.read"(%[[K]])
// CHECK-NEXT:    %[[X:.*]] = "unknown.make"
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[X]]
func.func @order(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%0) : (tensor<?x8xf32>) -> ()
  %x = "unknown.make"() : () -> tensor<?x8xf32>
  // expected-remark-re @below {{[Missed] order | Category:kvfuse | Function=order | Cause=loc("{{.*}}":{{[0-9]+}}:3), Reason="'unknown.read' stands between this write and the one before it", Suggestion="write all caches of a layer before any of them is read"}}
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// The values of the second write are the first one's result, behind a type cast:
// they can never be one launch.

// CHECK-LABEL: func.func @result_as_values(
// CHECK-NEXT:    %[[K:.*]] = kv.write
// CHECK-NEXT:      put
// CHECK-NEXT:    %[[C:.*]] = tensor.cast %[[K]]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[C]]
func.func @result_as_values(%s: tensor<?xi64>, %k: tensor<8x8xf32>, %kc: tensor<8x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<8x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<8x8xf32> into %kc : tensor<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %c = tensor.cast %0 : tensor<8x8xf32> to tensor<?x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %c : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<8x8xf32>, tensor<?x8xf32>
}

// -----

// The first write's values are a view of the cache that another one writes on
// the way: it may not move down past that, and the last one, whose cache is the
// other's result, not up.

// CHECK-LABEL: func.func @values_from_cache(
// CHECK:         put %{{.*}} into %arg3
// CHECK:         put %{{.*}} into %arg4
// CHECK:         put %{{.*}} into %arg5
func.func @values_from_cache(%s: tensor<4xi64>, %s2: tensor<4xi64>, %v: tensor<4x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %k = tensor.extract_slice %vc[0, 0] [4, 8] [1, 1] : tensor<?x8xf32> to tensor<4x8xf32>
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<4x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{different-indices}}
  %1 = kv.write at(%s2 : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %x = "unknown.make"() : () -> tensor<4x8xf32>
  // expected-remark @below {{'kv.write' stands between this write and the one before it}}
  %2 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<4x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// A write of other tokens never moves along as a producer: its cache's old
// contents are read before it.

// CHECK-LABEL: func.func @other_tokens(
// CHECK-NEXT:    "unknown.read"(%arg4)
// CHECK-NEXT:    %[[V:.*]] = kv.write at(%arg1
// CHECK-NEXT:      put {{.*}} into %arg4
// CHECK-NEXT:    kv.write at(%arg0
// CHECK-NEXT:      put {{.*}} into %arg3
// CHECK-NEXT:    kv.write at(%arg0
// CHECK-NEXT:      put {{.*}} into %[[V]]
func.func @other_tokens(%s: tensor<?xi64>, %s2: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%vc) : (tensor<?x8xf32>) -> ()
  %1 = kv.write at(%s2 : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %1 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %2 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Two layers: the second is computed from what the first has written. Each is a
// group of its own, without a remark.

// CHECK-LABEL: func.func @layers(
// CHECK-NEXT:    %[[K:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %arg3
// CHECK-NEXT:    %[[V:.*]] = kv.write
// CHECK-NEXT:      put {{.*}} into %arg4
// CHECK-NEXT:    %[[A:.*]]:2 = "unknown.attend"(%[[K]], %[[V]])
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[A]]#0 : {{.*}} into %arg5
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[A]]#1 : {{.*}} into %arg6
// CHECK-NEXT:    "unknown.op"
func.func @layers(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %kc2: tensor<?x8xf32>, %vc2: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %a:2 = "unknown.attend"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %a#0 : tensor<?x8xf32> into %kc2 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  %3 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %a#1 : tensor<?x8xf32> into %vc2 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1, %2, %3 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// SM2: two writes of one cache are never one group, and stay in order. Other
// policies are other tokens, without a remark; a third write finds its group
// across them.

// CHECK-LABEL: func.func @apart(
// CHECK-NEXT:    %[[A:.*]] = kv.write {{.*}} negative(wrap)
// CHECK-NEXT:      put {{.*}} into %arg2
// CHECK-NEXT:    "unknown.op"
// CHECK-NEXT:    kv.write {{.*}} negative(wrap)
// CHECK-NEXT:      put {{.*}} into %[[A]]
// CHECK-NEXT:    kv.write {{.*}} negative(wrap)
// CHECK-NEXT:      put {{.*}} into %arg4
// CHECK-NEXT:    "unknown.op"
// CHECK-NEXT:    kv.write {{.*}} negative(error)
// CHECK-NEXT:      put {{.*}} into %arg3
// CHECK-NEXT:    "unknown.op"
// CHECK-NEXT:    return
func.func @apart(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>, %ic: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  // expected-remark @below {{[Missed] dest-alias}}
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  %2 = kv.write at(%s : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  %3 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %ic : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %1, %2, %3 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// What a region uses is an operand too: the scalar moves up with the write. The
// value between has another user, which stays behind it (SM6). A refused write
// joins nothing.

// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    %[[N:.*]] = arith.negf %arg1
// CHECK-NEXT:    %[[F:.*]] = arith.addf %arg3, %arg3 : f32
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %arg4
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[N]] : {{.*}} into %arg5
// CHECK:             arith.mulf %{{.*}}, %[[F]] : f32
// CHECK:         "unknown.op"(%[[N]])
// CHECK:         kv.write
// CHECK-NEXT:      put {{.*}} into %arg2 {{.*}} attributes {kv.refused
func.func @nested(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %c: tensor<?x8xf32>, %f: f32, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %n = arith.negf %k : tensor<?x8xf32>
  "unknown.op"(%n) : (tensor<?x8xf32>) -> ()
  %g = arith.addf %f, %f : f32
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %n : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%e: f32):
      %y = arith.mulf %e, %g : f32
      kv.yield %y : f32
    }
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    attributes {kv.refused = "mixed-division"}
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
