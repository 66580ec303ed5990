// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(kv-hoist-checks)' | FileCheck %s

// SX10: every test of sizes stands before the first launch. A callee's tests are
// repeated on what the call hands over, which goes to the part behind them; the
// size of a temporary is what it was allocated with. Tests inside of a branch
// stay there.

// CHECK-LABEL: func.func @callee(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>)
// CHECK:         cf.assert %{{.*}}, "sizes differ"
// CHECK-NEXT:    call @callee_unchecked(%[[A]], %[[B]])
// CHECK-NEXT:    return
// CHECK-LABEL: func.func private @callee_unchecked(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>)
// CHECK-NOT:     cf.assert
// CHECK:         call @launch(%[[A]])
// CHECK-NEXT:    return
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
// CHECK-NEXT:    call @callee_unchecked(%[[T]], %[[B]])
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
// CHECK-SAME:    %[[OK:.*]]: i1)
// CHECK-NEXT:    cf.assert %[[OK]], "odd"
// CHECK-NEXT:    call @odd_unchecked(%[[OK]])
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @odd(
// CHECK-SAME:    %[[OK:.*]]: i1)
// CHECK-NEXT:    cf.assert %[[OK]], "odd"
// CHECK-NEXT:    call @odd_unchecked(%[[OK]])
// CHECK-NEXT:    return
// CHECK-LABEL: func.func private @odd_unchecked(
// CHECK-SAME:    %[[OK:.*]]: i1)
// CHECK-NEXT:    call @even(%[[OK]])
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

// -----

// A call of a function that is declared pure moves, also inside of a branch that
// does nothing else; its condition and arguments come along. Another one stays.

// CHECK-LABEL: func.func @pure_calls(
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0
// CHECK-NEXT:    %[[N:.*]] = memref.dim
// CHECK-NEXT:    %[[NONE:.*]] = arith.cmpi eq, %[[N]], %[[C0]]
// CHECK-NEXT:    %[[OK:.*]] = scf.if %[[NONE]] -> (i1) {
// CHECK:           call @pure(%[[N]])
// CHECK:         cf.assert %[[OK]], "pure"
// CHECK-NEXT:    call @pure_calls_unchecked
// CHECK-LABEL: func.func private @pure_calls_unchecked(
// CHECK-NOT:     call @pure(
// CHECK:         call @launch
// CHECK:         call @flag
// CHECK:         cf.assert %{{.*}}, "flag"
// CHECK-LABEL: func.func @caller_of_pure_calls(
// CHECK:         scf.if
// CHECK:           call @pure(
// CHECK:         cf.assert %{{.*}}, "pure"
// CHECK-NEXT:    call @launch
// CHECK-NEXT:    call @pure_calls_unchecked
func.func private @launch(memref<?xf32>)
func.func private @pure(index) -> i1 attributes {kv.pure}
func.func private @flag(index) -> i1
func.func @pure_calls(%a: memref<?xf32>) {
  call @launch(%a) : (memref<?xf32>) -> ()
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %none = arith.cmpi eq, %n, %c0 : index
  %ok = scf.if %none -> i1 {
    %true = arith.constant true
    scf.yield %true : i1
  } else {
    %pure = func.call @pure(%n) : (index) -> i1
    scf.yield %pure : i1
  }
  cf.assert %ok, "pure"
  %late = scf.if %none -> i1 {
    scf.yield %none : i1
  } else {
    %flag = func.call @flag(%n) : (index) -> i1
    scf.yield %flag : i1
  }
  cf.assert %late, "flag"
  return
}
func.func @caller_of_pure_calls(%a: memref<?xf32>) {
  call @launch(%a) : (memref<?xf32>) -> ()
  call @pure_calls(%a) : (memref<?xf32>) -> ()
  return
}

// -----

// What a function and its callees test alike is tested once, by the first message;
// calls of pure functions and branches are alike, too. A result goes through.

// CHECK-LABEL: func.func @same(
// CHECK-SAME:    %[[A:.*]]: index)
// CHECK:         %[[OK:.*]] = scf.if
// CHECK:           call @pure(%[[A]])
// CHECK:         cf.assert %[[OK]], "the caller's"
// CHECK-NOT:     cf.assert
// CHECK-NOT:     call @pure(
// CHECK:         call @callee_unchecked(%[[A]])
// CHECK-NEXT:    call @callee_unchecked(%[[A]])
// CHECK:         func.func @callee(
// CHECK-SAME:    %[[A:.*]]: index) -> index
// CHECK:         cf.assert %{{.*}}, "the callee's"
// CHECK-NEXT:    %[[R:.*]] = call @callee_unchecked(%[[A]])
// CHECK-NEXT:    return %[[R]]
func.func private @pure(index) -> i1 attributes {kv.pure}
func.func @same(%a: index) {
  %c0 = arith.constant 0 : index
  %none = arith.cmpi eq, %a, %c0 : index
  %ok = scf.if %none -> i1 {
    scf.yield %none : i1
  } else {
    %pure = func.call @pure(%a) : (index) -> i1
    scf.yield %pure : i1
  }
  cf.assert %ok, "the caller's"
  %first = call @callee(%a) : (index) -> index
  %second = call @callee(%a) : (index) -> index
  return
}
func.func @callee(%a: index) -> index {
  %c0 = arith.constant 0 : index
  %none = arith.cmpi eq, %a, %c0 : index
  %ok = scf.if %none -> i1 {
    scf.yield %none : i1
  } else {
    %pure = func.call @pure(%a) : (index) -> i1
    scf.yield %pure : i1
  }
  cf.assert %ok, "the callee's"
  return %a : index
}
