// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes)' | FileCheck %s
// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes{group=false})' | FileCheck %s --check-prefix=SINGLE
// RUN: kvfuse-opt %s -split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-outline-writes{keep-callers})' | FileCheck %s --check-prefix=KEEP

// A function of known operations is moved as a whole. Its neighbours become one
// function of caches, values, indices; nothing but the caches may be written.

// CHECK:       module {
// CHECK-NEXT:    module @kvfuse {
// CHECK:           func.func @kv_write_0(
// CHECK-SAME:        %[[KC:[^:]*]]: tensor<?x8xf32> {bufferization.writable = true}, %[[VC:[^:]*]]: tensor<?x8xbf16> {bufferization.writable = true},
// CHECK-SAME:        %[[K:[^:]*]]: tensor<?x8xf32> {bufferization.writable = false}, %[[V:[^:]*]]: tensor<?x8xbf16> {bufferization.writable = false},
// CHECK-SAME:        %[[S:[^:]*]]: tensor<?xi64> {bufferization.writable = false}) -> (tensor<?x8xf32>, tensor<?x8xbf16>) attributes {no_inline} {
// CHECK-NEXT:        %[[A:.*]] = kv.write at(%[[S]] :
// CHECK-NEXT:          put %[[K]] : {{.*}} into %[[KC]] :
// CHECK-NEXT:        %[[B:.*]] = kv.write at(%[[S]] :
// CHECK-NEXT:          put %[[V]] : {{.*}} into %[[VC]] :
// CHECK-NEXT:        return %[[A]], %[[B]]
// CHECK:           func.func @whole(%{{.*}}: tensor<?xi64> {bufferization.writable = false}
// CHECK-NEXT:        %[[N:.*]] = arith.negf
// CHECK-NEXT:        %[[R:.*]]:2 = call @kv_write_0(%{{.*}}, %{{.*}}, %[[N]], %{{.*}}, %{{.*}})
// CHECK-NEXT:        return %[[R]]#0, %[[R]]#1

// KEEP:        func.func private @kv_write_0(
// KEEP-NEXT:   func.func @whole(
// KEEP-NEXT:     %[[R:.*]]:2 = call @kv_write_0(
// KEEP-NEXT:     return %[[R]]#0, %[[R]]#1
// KEEP:        module @kvfuse {
// KEEP-NEXT:     func.func @kv_write_0(
// KEEP-NEXT:       arith.negf
// KEEP-NOT:      func.func @whole

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

// -----

// Layers of one pool: a layer number is an offset, and that an argument. The
// selector of K and V, which a layer covers, stays; two places in one dimension
// become an argument and a distance.

// CHECK-LABEL: func.func @layers(
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[P1:.*]] = call @[[LAYER:kv_write_[0-9]]](%arg2, %[[ZERO]], %arg0, %arg1)
// CHECK:         %[[P2:.*]] = "unknown.op"(%[[P1]])
// CHECK-LABEL: func.func @layer_one(
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    call @[[LAYER]](%arg2, %[[ONE]], %arg0, %arg1)
// CHECK-LABEL: func.func @distance(
// CHECK:         %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-NEXT:    call @[[DISTANCE:kv_write_[0-9]]](%arg2, %[[FOUR]], %arg0, %arg1)
// CHECK:       func.func @[[LAYER]](%[[P:[^:]*]]: tensor<6x2x16x8xf32> {bufferization.writable = true}, %[[L:[^:]*]]: index,
// CHECK-NEXT:    tensor.extract_slice %[[P]][%[[L]], 0, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put
// CHECK-NEXT:    %[[Q:.*]] = tensor.insert_slice {{.*}} into %[[P]][%[[L]], 0, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    tensor.extract_slice %[[Q]][%[[L]], 1, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put
// CHECK-NEXT:    %[[R:.*]] = tensor.insert_slice {{.*}} into %[[Q]][%[[L]], 1, 0, 0] [1, 1, 16, 8]
// CHECK-NEXT:    return %[[R]]
// CHECK:       func.func @[[DISTANCE]](%[[P:[^:]*]]: tensor<8x16x8xf32> {bufferization.writable = true}, %[[L:[^:]*]]: index,
// CHECK-NEXT:    %[[D:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[M:.*]] = arith.addi %[[L]], %[[D]]
// CHECK-NEXT:    tensor.extract_slice %[[P]][%[[L]], 0, 0]
// CHECK:         tensor.extract_slice %{{.*}}[%[[M]], 0, 0]
// CHECK:         tensor.insert_slice {{.*}}[%[[M]], 0, 0]
func.func @layers(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<6x2x16x8xf32> {bufferization.writable = true}) -> tensor<6x2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<6x2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<16x8xf32> into tensor<6x2x16x8xf32>
  %v0 = tensor.extract_slice %p1[0, 1, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<6x2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[0, 1, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<16x8xf32> into tensor<6x2x16x8xf32>
  %p3 = "unknown.op"(%p2) : (tensor<6x2x16x8xf32>) -> tensor<6x2x16x8xf32>
  return %p3 : tensor<6x2x16x8xf32>
}
func.func @layer_one(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<6x2x16x8xf32> {bufferization.writable = true}) -> tensor<6x2x16x8xf32> {
  %k0 = tensor.extract_slice %pool[1, 0, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<6x2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[1, 0, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<16x8xf32> into tensor<6x2x16x8xf32>
  %v0 = tensor.extract_slice %p1[1, 1, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<6x2x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[1, 1, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<16x8xf32> into tensor<6x2x16x8xf32>
  "unknown.op"() : () -> ()
  return %p2 : tensor<6x2x16x8xf32>
}
func.func @distance(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<8x16x8xf32> {bufferization.writable = true}) -> tensor<8x16x8xf32> {
  %k0 = tensor.extract_slice %pool[4, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<8x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p1 = tensor.insert_slice %k1 into %pool[4, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<8x16x8xf32>
  %v0 = tensor.extract_slice %p1[5, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<8x16x8xf32> to tensor<16x8xf32>
  %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %v0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %p2 = tensor.insert_slice %v1 into %p1[5, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<8x16x8xf32>
  "unknown.op"() : () -> ()
  return %p2 : tensor<8x16x8xf32>
}

// -----

// What is not put back is taken out outside.

// CHECK-LABEL: func.func @elsewhere(
// CHECK-NEXT:    %[[K0:.*]] = tensor.extract_slice %arg2
// CHECK-NEXT:    %[[K1:.*]] = call @kv_write_0(%[[K0]], %arg1, %arg0)
// CHECK-NEXT:    return %[[K1]]
func.func @elsewhere(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %pool: tensor<2x16x8xf32> {bufferization.writable = true}) -> tensor<16x8xf32> {
  %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %k1 : tensor<16x8xf32>
}

// -----

// The cache goes around a loop: what a round writes is the cache that the loop
// was given, in every round. The slices of a pool may be taken out inside, or
// outside.

// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for {{.*}} iter_args(%[[C:.*]] = %arg3)
// CHECK-NEXT:      %[[D:.*]] = func.call @kv_write_0(%[[C]], %arg2, %arg1)
// CHECK-NEXT:      scf.yield %[[D]]
// CHECK-LABEL: func.func @slice_in_loop(
// CHECK:         scf.for %[[I:.*]] = {{.*}} iter_args(%[[P:.*]] = %arg3)
// CHECK-NEXT:      %[[Q:.*]] = func.call @kv_write_1(%[[P]], %[[I]], %arg2, %arg1)
// CHECK-NEXT:      scf.yield %[[Q]]
// CHECK-LABEL: func.func @loop_in_slice(
// CHECK:         %[[S:.*]] = tensor.extract_slice %arg3
// CHECK-NEXT:    scf.for {{.*}} iter_args(%[[C:.*]] = %[[S]])
// CHECK-NEXT:      func.call @
// CHECK:         tensor.insert_slice
func.func @loop(%n: index, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c) -> tensor<?x8xf32> {
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %x : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %0 : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
func.func @slice_in_loop(%n: index, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x16x8xf32> {bufferization.writable = true}) -> tensor<?x16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c) -> tensor<?x16x8xf32> {
    %k0 = tensor.extract_slice %x[%i, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<?x16x8xf32> to tensor<16x8xf32>
    %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %k0 : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    %y = tensor.insert_slice %k1 into %x[%i, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<?x16x8xf32>
    scf.yield %y : tensor<?x16x8xf32>
  }
  return %r : tensor<?x16x8xf32>
}
func.func @loop_in_slice(%n: index, %s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<2x16x8xf32> {bufferization.writable = true}) -> tensor<2x16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k0 = tensor.extract_slice %c[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<16x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %k0) -> tensor<16x8xf32> {
    %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %x : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    scf.yield %k1 : tensor<16x8xf32>
  }
  %y = tensor.insert_slice %r into %c[1, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<2x16x8xf32>
  return %y : tensor<2x16x8xf32>
}
