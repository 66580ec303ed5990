// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-trap-to-status)' -split-input-file | FileCheck %s

// CHECK:       llvm.mlir.global private constant @kvfuse_message_0("SX5: index out of bounds\00")
// CHECK-LABEL: func.func @assert(
// CHECK-SAME:    %[[OK:.*]]: i1) -> !llvm.ptr
// CHECK:         %[[MESSAGE:.*]] = llvm.mlir.addressof @kvfuse_message_0 : !llvm.ptr
// CHECK:         cf.cond_br %[[OK]], ^[[REST:.*]], ^[[ERROR:.*]](%[[MESSAGE]] : !llvm.ptr)
// CHECK:       ^[[REST]]:
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         return %[[NULL]] : !llvm.ptr
// CHECK:       ^[[ERROR]](%[[STATUS:.*]]: !llvm.ptr):
// CHECK:         return %[[STATUS]] : !llvm.ptr
func.func @assert(%ok: i1) {
  cf.assert %ok, "SX5: index out of bounds"
  return
}

// -----

// Equal messages are one constant, and a function has one error return.

// CHECK:       llvm.mlir.global private constant @kvfuse_message_0("one\00")
// CHECK-NEXT:  llvm.mlir.global private constant @kvfuse_message_1("two\00")
// CHECK-NOT:   llvm.mlir.global
// CHECK-LABEL: func.func @messages(
// CHECK:         %[[ONE:.*]] = llvm.mlir.addressof @kvfuse_message_0
// CHECK:         cf.cond_br %{{.*}}, ^[[REST1:.*]], ^[[ERROR:.*]](%[[ONE]] : !llvm.ptr)
// CHECK:       ^[[REST1]]:
// CHECK:         %[[TWO:.*]] = llvm.mlir.addressof @kvfuse_message_1
// CHECK:         cf.cond_br %{{.*}}, ^[[REST2:.*]], ^[[ERROR]](%[[TWO]] : !llvm.ptr)
// CHECK:       ^[[REST2]]:
// CHECK:         %[[ONE_AGAIN:.*]] = llvm.mlir.addressof @kvfuse_message_0
// CHECK:         cf.cond_br %{{.*}}, ^{{.*}}, ^[[ERROR]](%[[ONE_AGAIN]] : !llvm.ptr)
func.func @messages(%a: i1, %b: i1) {
  cf.assert %a, "one"
  cf.assert %b, "two"
  cf.assert %b, "one"
  return
}

// CHECK-LABEL: func.func @other(
// CHECK:         llvm.mlir.addressof @kvfuse_message_0
func.func @other(%a: i1) {
  cf.assert %a, "one"
  return
}

// -----

// A call returns what its callee returned, before anything after it runs.
// Results are poison then. The order of functions does not matter.

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[M:.*]]: memref<?xf32>, %[[OK:.*]]: i1) -> (memref<?xf32>, i64, !llvm.ptr)
// CHECK:         %[[CALL:.*]]:2 = call @callee(%[[OK]]) : (i1) -> (i64, !llvm.ptr)
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         %[[FAILED:.*]] = llvm.icmp "ne" %[[CALL]]#1, %[[NULL]] : !llvm.ptr
// CHECK:         cf.cond_br %[[FAILED]], ^[[ERROR:.*]](%[[CALL]]#1 : !llvm.ptr), ^[[REST:.*]]
// CHECK:       ^[[REST]]:
// CHECK:         %[[NO_ERROR:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         return %[[M]], %[[CALL]]#0, %[[NO_ERROR]] : memref<?xf32>, i64, !llvm.ptr
// CHECK:       ^[[ERROR]](%[[STATUS:.*]]: !llvm.ptr):
// CHECK:         %[[NO_M:.*]] = ub.poison : memref<?xf32>
// CHECK:         %[[NO_N:.*]] = ub.poison : i64
// CHECK:         return %[[NO_M]], %[[NO_N]], %[[STATUS]] : memref<?xf32>, i64, !llvm.ptr
func.func @caller(%m: memref<?xf32>, %ok: i1) -> (memref<?xf32>, i64) {
  %n = call @callee(%ok) : (i1) -> i64
  return %m, %n : memref<?xf32>, i64
}

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    -> (i64, !llvm.ptr)
func.func private @callee(%ok: i1) -> i64 {
  cf.assert %ok, "failed"
  %n = arith.constant 1 : i64
  return %n : i64
}

// -----

// Branches of a loop stay; each block is split where it may return.

// CHECK-LABEL: func.func @loop(
// CHECK:         cf.br ^[[HEAD:.*]](%{{.*}} : index)
// CHECK:       ^[[HEAD]](%[[I:.*]]: index):
// CHECK:         cf.cond_br %{{.*}}, ^[[BODY:.*]], ^[[END:.*]]
// CHECK:       ^[[BODY]]:
// CHECK:         %[[OK:.*]] = arith.cmpi
// CHECK:         cf.cond_br %[[OK]], ^[[REST:.*]], ^{{.*}}(%{{.*}} : !llvm.ptr)
// CHECK:       ^[[REST]]:
// CHECK:         cf.br ^[[HEAD]](%{{.*}} : index)
func.func @loop(%n: index, %limit: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %ok = arith.cmpi slt, %i, %limit : index
  cf.assert %ok, "limit"
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^end:
  return
}

// -----

// Declarations and calls of them stay as they are, even where nothing traps; a
// function that cannot trap has the result all the same.

// CHECK-LABEL: func.func private @external(i32) -> i32
// CHECK-LABEL: func.func @no_trap(
// CHECK-SAME:    -> (i32, !llvm.ptr)
// CHECK-NEXT:    %[[Y:.*]] = call @external(%{{.*}}) : (i32) -> i32
// CHECK-NEXT:    %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    return %[[Y]], %[[NULL]] : i32, !llvm.ptr
func.func private @external(i32) -> i32
func.func @no_trap(%x: i32) -> i32 {
  %y = call @external(%x) : (i32) -> i32
  return %y : i32
}

// -----

// What is declared pure cannot fail.

// CHECK-LABEL: func.func private @pure(
// CHECK-SAME:    -> i1 attributes
// CHECK-NEXT:    return %{{.*}} : i1
// CHECK-LABEL: func.func @calls_pure(
// CHECK-NEXT:    %[[OK:.*]] = call @pure(%{{.*}}) : (i1) -> i1
// CHECK-NEXT:    llvm.mlir.addressof
// CHECK-NEXT:    cf.cond_br %[[OK]]
func.func private @pure(%x: i1) -> i1 attributes {kv.pure} {
  return %x : i1
}
func.func @calls_pure(%x: i1) {
  %ok = call @pure(%x) : (i1) -> i1
  cf.assert %ok, "no"
  return
}

// -----

// A declaration may say that it fails: then it returns a message.

// CHECK-LABEL: func.func private @runtime(i64) -> !llvm.ptr attributes {kv.may_fail}
// CHECK-LABEL: func.func @calls_runtime(
// CHECK-SAME:    %[[N:.*]]: i64) -> !llvm.ptr
// CHECK-NEXT:    %[[MESSAGE:.*]] = call @runtime(%[[N]]) : (i64) -> !llvm.ptr
// CHECK-NEXT:    %[[NULL:.*]] = llvm.mlir.zero
// CHECK-NEXT:    %[[FAILED:.*]] = llvm.icmp "ne" %[[MESSAGE]], %[[NULL]]
// CHECK-NEXT:    cf.cond_br %[[FAILED]], ^[[ERROR:.*]](%[[MESSAGE]] : !llvm.ptr), ^{{.*}}
func.func private @runtime(i64) attributes {kv.may_fail}
func.func @calls_runtime(%n: i64) {
  call @runtime(%n) : (i64) -> ()
  return
}
