// What upstream passes may do with a write, and what not (SM7).
//
// Tensor form: no effect. An unused write is dead, equal writes are one, and it
// may run where it did not run before if nothing can trap and nothing is promised.
// Buffer form: stays where it is, as often as it is there.
// RUN: kvfuse-opt %s --canonicalize --split-input-file | FileCheck %s --check-prefixes=CHECK,CANON
// RUN: kvfuse-opt %s --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,CSE
// RUN: kvfuse-opt %s --loop-invariant-code-motion --split-input-file | FileCheck %s --check-prefixes=CHECK,LICM
// RUN: kvfuse-opt %s --symbol-dce --remove-dead-values --split-input-file | FileCheck %s --check-prefixes=CHECK,DCE

#row = affine_map<(t, s, d) -> (s, d)>

// CHECK-LABEL: func.func @unused_tensor_writes
// CANON-NEXT:    return
// DCE-NEXT:      return
func.func @unused_tensor_writes(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(#row)
  %1 = kv.write at(%s : tensor<?xi64>) negative(undefined) out_of_bounds(skip)
    put %v : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(#row)
  return
}

// -----

#row = affine_map<(t, s, d) -> (s, d)>

// Equal tensor writes are one write: with regions, too, but not with different
// policies.
// CHECK-LABEL: func.func @equal_tensor_writes
// CSE:           %[[W:.*]] = kv.write {{.*}} negative(wrap)
// CSE:           %[[E:.*]] = kv.write {{.*}} negative(error)
// CSE-NOT:       kv.write
// CSE:           return %[[W]], %[[W]], %[[E]]
func.func @equal_tensor_writes(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf16>)
    -> (tensor<?x8xf16>, tensor<?x8xf16>, tensor<?x8xf16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf16> map(#row) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f16
      kv.yield %y : f16
    }
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf16> map(#row) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f16
      kv.yield %y : f16
    }
  %2 = kv.write at(%s : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf16> map(#row) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f16
      kv.yield %y : f16
    }
  return %0, %1, %2 : tensor<?x8xf16>, tensor<?x8xf16>, tensor<?x8xf16>
}

// -----

#row = affine_map<(t, s, d) -> (s, d)>

// Only the write that can neither trap nor break a promise leaves the loop,
// which may have no iteration.
func.func private @use(tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>,
                       tensor<?x8xi32>, tensor<?x8xi32>)
// CHECK-LABEL: func.func @speculation
// LICM:          kv.write {{.*}} negative(wrap) out_of_bounds(skip)
// LICM-NEXT:       put
// LICM-NEXT:     kv.write {{.*}} negative(error) out_of_bounds(skip)
// LICM-NEXT:       put
// LICM-NEXT:     scf.for
// LICM:            kv.write {{.*}} negative(wrap) out_of_bounds(trap)
// LICM:            kv.write {{.*}} negative(undefined) out_of_bounds(skip)
// LICM:            kv.write {{.*}} negative(wrap) out_of_bounds(undefined)
// LICM:            kv.write {{.*}} negative(wrap) out_of_bounds(skip)
// LICM:            arith.divsi
func.func @speculation(%n: index, %divisor: i32, %s: tensor<?xi64>, %v: tensor<?x8xi32>,
                       %c: tensor<?x8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
      put %v : tensor<?x8xi32> into %c : tensor<?x8xi32> map(#row)
    %1 = kv.write at(%s : tensor<?xi64>) negative(error) out_of_bounds(skip)
      put %v : tensor<?x8xi32> into %c : tensor<?x8xi32> map(#row)
    %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xi32> into %c : tensor<?x8xi32> map(#row)
    %3 = kv.write at(%s : tensor<?xi64>) negative(undefined) out_of_bounds(skip)
      put %v : tensor<?x8xi32> into %c : tensor<?x8xi32> map(#row)
    %4 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(undefined)
      put %v : tensor<?x8xi32> into %c : tensor<?x8xi32> map(#row)
    // A division by zero must not move either.
    %5 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(skip)
      put %v : tensor<?x8xi32> into %c : tensor<?x8xi32> map(#row) {
      ^bb0(%x: i32):
        %y = arith.divsi %x, %divisor : i32
        kv.yield %y : i32
      }
    func.call @use(%0, %1, %2, %3, %4, %5)
        : (tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>,
           tensor<?x8xi32>) -> ()
  }
  return
}

// -----

#row = affine_map<(t, s, d) -> (s, d)>

// Two equal buffer writes are two writes, inside a loop they stay inside, and no
// load moves across them.
// CHECK-LABEL: func.func @buffer_writes
// CHECK-COUNT-2: kv.write
// CHECK:         %[[BEFORE:.*]] = memref.load
// CHECK:         kv.write
// CHECK:         %[[AFTER:.*]] = memref.load
// CHECK:         scf.for
// CHECK-NEXT:      kv.write
// CHECK:         return %[[BEFORE]], %[[AFTER]]
func.func @buffer_writes(%n: index, %s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>)
    -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(#row)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(#row)
  %before = memref.load %c[%c0, %c0] : memref<?x8xf32>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(#row)
  %after = memref.load %c[%c0, %c0] : memref<?x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
      put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(#row)
  }
  return %before, %after : f32, f32
}

// -----

#row = affine_map<(t, s, d) -> (s, d)>

// A private function that writes is not removed while it is called, nor the
// call of it.
// CHECK-LABEL: func.func @caller
// CHECK-NEXT:    call @write
// CHECK:       func.func private @write
// CHECK:         kv.write
func.func @caller(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  call @write(%s, %v, %c) : (memref<?xi64>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
func.func private @write(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(#row)
  return
}
