// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes)' | FileCheck %s
// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes{group=false})' | FileCheck %s --check-prefix=SINGLE

// A function of known operations is moved as a whole. Its neighbours become one
// function of caches, values, indices; nothing but the caches may be written.

// CHECK:       module {
// CHECK-NEXT:    module @kvfuse {
// CHECK:           func.func @kv_write_0(
// CHECK-SAME:        %[[KC:[^:]*]]: tensor<?x8xf32> {bufferization.writable = true}, %[[VC:[^:]*]]: tensor<?x8xbf16> {bufferization.writable = true},
// CHECK-SAME:        %[[K:[^:]*]]: tensor<?x8xf32> {bufferization.writable = false}, %[[V:[^:]*]]: tensor<?x8xbf16> {bufferization.writable = false},
// CHECK-SAME:        %[[S:[^:]*]]: tensor<?xi64> {bufferization.writable = false}) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
// CHECK-NEXT:        %[[A:.*]] = kv.write at(%[[S]] :
// CHECK-NEXT:          put %[[K]] : {{.*}} into %[[KC]] :
// CHECK-NEXT:        %[[B:.*]] = kv.write at(%[[S]] :
// CHECK-NEXT:          put %[[V]] : {{.*}} into %[[VC]] :
// CHECK-NEXT:        return %[[A]], %[[B]]
// CHECK:           func.func @whole(%{{.*}}: tensor<?xi64> {bufferization.writable = false}
// CHECK-NEXT:        %[[N:.*]] = arith.negf
// CHECK-NEXT:        %[[R:.*]]:2 = call @kv_write_0(%{{.*}}, %{{.*}}, %[[N]], %{{.*}}, %{{.*}})
// CHECK-NEXT:        return %[[R]]#0, %[[R]]#1

// SINGLE:      func.func @kv_write_0(
// SINGLE:      func.func @kv_write_1(
// SINGLE:      func.func @whole(
// SINGLE:        call @kv_write_0(
// SINGLE:        call @kv_write_1(
func.func @whole(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xbf16>, %kc: tensor<?x8xf32> {bufferization.writable = true}, %vc: tensor<?x8xbf16> {tf.aliasing_output = 1 : i32}) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %n = arith.negf %k : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %n : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xbf16> into %vc : tensor<?x8xbf16> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xbf16>
}

// -----

// Beside an operation that is not known, the text stays apart from the call, and
// what computes the operands goes along. Equal groups of several functions share
// one; names are free in both modules.

// CHECK:       module {
// CHECK-NEXT:    func.func private @kv_write_0()
// CHECK-NEXT:    func.func private @kv_write_1(tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
// CHECK-NEXT:    func.func @unknown(%[[S:.*]]: tensor<?xi64>, %[[K:.*]]: tensor<?x8xf32>, %[[KC:.*]]: tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:      "unknown.op"(%[[S]]) {tag = "kept"} : (tensor<?xi64>) -> ()
// CHECK-NEXT:      %[[R:.*]] = call @kv_write_1(%[[KC]], %[[K]], %[[S]])
// CHECK-NEXT:      "unknown.read"(%[[R]])
// CHECK-NEXT:      return %[[R]]
// CHECK:         func.func @second(
// CHECK:           call @kv_write_1(
// CHECK:           call @kv_write_1(
// CHECK:         func.func @untouched(
// CHECK-NEXT:      "unknown.op"
// CHECK:         module @kvfuse {
// CHECK-NEXT:      func.func @kv_write_1(%[[C:[^:]*]]: {{[^,]*}} {bufferization.writable = true}, %[[V:[^:]*]]: {{.*}}, %[[S:[^:]*]]:
// CHECK-NEXT:        %[[N:.*]] = arith.negf %[[V]]
// CHECK-NEXT:        kv.write at(%[[S]]
// CHECK-NEXT:          put %[[N]] : {{.*}} into %[[C]]
// CHECK-NEXT:        return
// CHECK-NEXT:      }
// CHECK-NEXT:    }
func.func private @kv_write_0()
func.func @unknown(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %n = arith.negf %k : tensor<?x8xf32>
  "unknown.op"(%s) {tag = "kept"} : (tensor<?xi64>) -> ()
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %n : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%0) : (tensor<?x8xf32>) -> ()
  return %0 : tensor<?x8xf32>
}
func.func @second(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32> {bufferization.writable = true}, %vc: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %n = arith.negf %k : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %n : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %n : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @untouched(%s: tensor<?xi64>) {
  "unknown.op"(%s) : (tensor<?xi64>) -> ()
  return
}

// -----

// An operation that reads a cache does not go along: at the site of the second
// write, the first one has changed what it reads. A type cast of the cache does.

// CHECK-LABEL: func.func @reads_cache(
// CHECK-SAME:    %{{.*}}, %{{.*}}, %{{.*}}, %[[C:[^:]*]]: tensor<?x8xf32>, %[[D:[^:]*]]: tensor<?x8xf32>)
// CHECK-NEXT:    %[[Y:.*]] = arith.addf %[[C]], %[[C]]
// CHECK-NEXT:    call @kv_write_0(%[[C]],
// CHECK-NEXT:    "unknown.op"
// CHECK-NEXT:    call @kv_write_1(%[[D]], %[[Y]],
// CHECK:       module @kvfuse {
// CHECK:         func.func @kv_write_0(%[[A:.*]]: tensor<?x8xf32> {bufferization.writable = true},
// CHECK-NEXT:      %[[CAST:.*]] = tensor.cast %[[A]] : tensor<?x8xf32> to tensor<16x8xf32>
// CHECK:           into %[[CAST]] : tensor<16x8xf32>
// CHECK:         func.func @kv_write_1(
// CHECK-NOT:       arith.addf
func.func @reads_cache(%s: tensor<?xi64>, %s2: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}, %d: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<16x8xf32>, tensor<?x8xf32>) {
  %y = arith.addf %c, %c : tensor<?x8xf32>
  %cast = tensor.cast %c : tensor<?x8xf32> to tensor<16x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %cast : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.op"() : () -> ()
  %1 = kv.write at(%s2 : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %y : tensor<?x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<16x8xf32>, tensor<?x8xf32>
}

// -----

// Callers of a function that moved find a declaration; the function is public
// where it is now. A module of the name is used if it is there, and other nested
// modules are nobody's business.

// CHECK:       module @user {
// CHECK:         kv.write
// CHECK:       module @kvfuse {
// CHECK:         func.func private @mine()
// CHECK:         func.func @kv_write_0(
// CHECK:         func.func @inner(
// CHECK:           call @kv_write_0(
// CHECK:       func.func private @inner(tensor<?xi64>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK:       func.func @outer(
// CHECK-NEXT:    call @inner(
module @user {
  func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    return %0 : tensor<?x8xf32>
  }
}
module @kvfuse {
  func.func private @mine()
}
func.func private @inner(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {jax.buffer_donor = true}) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}
func.func @outer(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = func.call @inner(%s, %v, %c) : (tensor<?xi64>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// tensor.pad is of a known dialect, but no kernel: the function stays. So does
// one with arguments that no kernel takes.

// CHECK-LABEL: func.func @pad(
// CHECK:         tensor.pad
// CHECK:         call @kv_write_0(
// CHECK:       func.func @opaque(
// CHECK:         call @kv_write_0(
func.func @pad(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %v low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %p : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}
func.func @opaque(%o: !unknown.type, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

// In a branch: the other one yields the old contents, which is no later use.

// CHECK-LABEL: func.func @branch(
// CHECK:         scf.if
// CHECK-NEXT:      func.call @kv_write_0(
func.func @branch(%b: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %r = scf.if %b -> tensor<?x8xf32> {
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %0 : tensor<?x8xf32>
  } else {
    scf.yield %c : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
