// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-hoist-checks)' | FileCheck %s

// SX10: every test of sizes stands before the first launch. A callee's tests are
// repeated on what the call hands over; the size of a temporary is what it was
// allocated with. Tests inside of a branch stay there.

// CHECK-LABEL: func.func @callee(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>)
// CHECK:         cf.assert %{{.*}}, "sizes differ"
// CHECK-NEXT:    call @launch(%[[A]])
// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[C:.*]]: i1)
// CHECK-NOT:     memref.alloc
// CHECK:         %[[N:.*]] = memref.dim %[[A]]
// CHECK-NOT:     memref.alloc
// CHECK:         %[[M:.*]] = memref.dim %[[B]]
// CHECK-NEXT:    %[[EQ:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK-NEXT:    cf.assert %[[EQ]], "sizes differ"
// CHECK-NEXT:    %[[T:.*]] = memref.alloc(%[[N]])
// CHECK-NEXT:    call @launch(%[[T]])
// CHECK-NEXT:    call @callee(%[[T]], %[[B]])
// CHECK-NEXT:    scf.if %[[C]] {
// CHECK-NEXT:      cf.assert %[[C]], "in the branch"
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[LATE:.*]] = call @flag()
// CHECK-NEXT:    cf.assert %[[LATE]], "not of the arguments"
func.func private @launch(memref<?xf32>)
func.func private @flag() -> i1
func.func @callee(%a: memref<?xf32>, %b: memref<?xf32>) {
  func.call @launch(%a) : (memref<?xf32>) -> ()
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %m = memref.dim %b, %c0 : memref<?xf32>
  %eq = arith.cmpi eq, %n, %m : index
  cf.assert %eq, "sizes differ"
  return
}
func.func @caller(%a: memref<?xf32>, %b: memref<?xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  func.call @launch(%t) : (memref<?xf32>) -> ()
  func.call @callee(%t, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  scf.if %c {
    cf.assert %c, "in the branch"
  }
  %late = func.call @flag() : () -> i1
  cf.assert %late, "not of the arguments"
  return
}

// -----

// Functions that call each other keep their own tests.

// CHECK-LABEL: func.func @even(
// CHECK-NEXT:    cf.assert
// CHECK:         call @odd
// CHECK-LABEL: func.func @odd(
// CHECK:         cf.assert
// CHECK:         call @even
func.func @even(%ok: i1) {
  call @odd(%ok) : (i1) -> ()
  cf.assert %ok, "even"
  return
}
func.func @odd(%ok: i1) {
  call @even(%ok) : (i1) -> ()
  cf.assert %ok, "odd"
  return
}
