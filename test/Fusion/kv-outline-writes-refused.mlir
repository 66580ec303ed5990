// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// SM5, SM3: what may not be done in place is left where it is.

// CHECK-LABEL: func.func @undeclared(
// CHECK:         kv.write
// CHECK:         kv.write
// CHECK-NOT:   @kvfuse
func.func @undeclared(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>, %d: tensor<?x8xf32> {bufferization.writable = false}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // expected-remark @below {{[Missed] cache-copied | Category:kvfuse | Function=undeclared | Reason="argument 2 of 'undeclared' is written, but not declared mutated", Suggestion="declare the caches that may be written: --mutates=2,3, or --mutates=auto for all of them"}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{argument 3 of 'undeclared'}}
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @no_argument(
// CHECK-COUNT-3: kv.write
// CHECK-NOT:   @kvfuse
func.func @no_argument(%c: tensor<?x8xf32> {bufferization.writable = true}, %s: tensor<4xi64>, %v: tensor<4x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  // expected-remark-re @below {{[Missed] cache-copied | Category:kvfuse | Function=no_argument | Cause=loc("{{.*}}":{{[0-9]+}}:12), Reason="the program writes a copy: the cache is not an argument", Suggestion="pass the cache as an argument, and write to it"}}
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %empty : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // What a round is given is not always the same cache.
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c, %z = %0) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    // expected-remark @below {{cache-copied}}
    %1 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<4x8xf32> into %x : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %z, %1 : tensor<?x8xf32>, tensor<?x8xf32>
  }
  cf.br ^bb1(%0 : tensor<?x8xf32>)
^bb1(%y: tensor<?x8xf32>):
  // An argument of a block is none of the function.
  // expected-remark @below {{cache-copied}}
  %2 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %y : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %2 : tensor<?x8xf32>
}

// -----

// Later uses of the old contents: directly, through a view made before, through
// a type cast made after, behind a branch, in the next round of a loop.

// CHECK-COUNT-5: kv.write
// CHECK-NOT:     @kvfuse
func.func @after(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  // expected-remark-re @below {{[Missed] old-cache-live | Category:kvfuse | Function=after | Cause=loc("{{.*}}":{{[0-9]+}}:3), Reason="the contents before this write are used after it, by 'unknown.read'", Suggestion="use the cache that the write returns, or read before it"}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%c) : (tensor<?x8xf32>) -> ()
  return %0 : tensor<?x8xf32>
}
func.func @view(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %view = "unknown.view"(%c) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-remark @below {{old-cache-live}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%view) : (tensor<?x8xf32>) -> ()
  return %0 : tensor<?x8xf32>
}
func.func @cast(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  // expected-remark @below {{used after it, by 'unknown.read'}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %cast = tensor.cast %c : tensor<?x8xf32> to tensor<16x8xf32>
  "unknown.read"(%cast) : (tensor<16x8xf32>) -> ()
  return %0 : tensor<?x8xf32>
}
func.func @branch(%b: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %r = scf.if %b -> tensor<?x8xf32> {
    // expected-remark @below {{used after it, by 'unknown.read'}}
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %0 : tensor<?x8xf32>
  } else {
    scf.yield %c : tensor<?x8xf32>
  }
  "unknown.read"(%c) : (tensor<?x8xf32>) -> ()
  return %r : tensor<?x8xf32>
}
func.func @loop(%n: index, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-remark @below {{the contents before this write are used again in the next round of 'scf.for'}}
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    "unknown.read"(%0) : (tensor<?x8xf32>) -> ()
  }
  return
}

// -----

// What a write reads may not be the cache: of a part of it, it reads a copy; one
// of the whole is not made. Nor may the cache be written twice at once.

// CHECK-LABEL: func.func @indices(
// CHECK:         kv.write
// CHECK-LABEL: func.func @twice(
// CHECK:         kv.write
// CHECK:       module @kvfuse
// CHECK-LABEL: func.func @values(
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[PART]])
// CHECK:         call @kv_write_0(%{{.*}}, %[[COPY]], %{{.*}})
func.func @values(%s: tensor<4xi64>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %v = tensor.extract_slice %c[0, 0] [4, 8] [1, 1] : tensor<?x8xf32> to tensor<4x8xf32>
  // expected-remark-re @below {{[Missed] alias-value | Category:kvfuse | Function=values | Cause=loc({{.*}}), Reason="what the write reads may share memory with the cache", Suggestion="copy the values before they are written"}}
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}
func.func @indices(%v: tensor<?xi64>, %c: tensor<?xi64> {bufferization.writable = true}) -> tensor<?xi64> {
  // expected-remark @below {{alias-value}}
  %0 = kv.write at(%c : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?xi64> into %c : tensor<?xi64> map(affine_map<(t, s) -> (s)>)
  return %0 : tensor<?xi64>
}
func.func @twice(%s: tensor<?xi64>, %v: tensor<?xi64>, %c: tensor<?xi64> {bufferization.writable = true}) -> tensor<?xi64> {
  // expected-remark @below {{[Missed] dest-alias | Category:kvfuse | Function=twice | Reason="destinations 0 and 1 may share memory", Suggestion="pass caches that do not overlap as arguments of their own"}}
  %0, %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?xi64> into %c : tensor<?xi64> map(affine_map<(t, s) -> (s)>)
    put %v : tensor<?xi64> into %c : tensor<?xi64> map(affine_map<(t, s) -> (s + 1)>)
  return %0 : tensor<?xi64>
}

// -----

// One neighbour reads what the other writes: both are done in place, one after
// the other.

// CHECK-LABEL: func.func @neighbours(
// CHECK:         call @kv_write_0(%arg3, %{{.*}}, %arg0)
// CHECK-NEXT:    call @kv_write_0(%arg2, %arg1, %arg0)
func.func @neighbours(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}, %d: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = "unknown.view"(%c) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-remark @below {{[Passed] fused | Category:kvfuse | Function=neighbours | Destinations=1}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %y : tensor<?x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-remark @below {{alias-value}}
  // expected-remark @below {{[Passed] fused}}
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
