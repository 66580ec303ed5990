// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-alloc-to-runtime)' --allow-unregistered-dialect | FileCheck %s

// A call that may fail, and one that does not. The address comes through a place
// on the stack that is made once, at the start of the function.

// CHECK-DAG:   func.func private @kvfuse_allocate(i64, !llvm.ptr) attributes {kv.may_fail}
// CHECK-DAG:   func.func private @kvfuse_release(!llvm.ptr)
// CHECK-LABEL: func.func @temporaries(
// CHECK-SAME:    %[[N:.*]]: index)
// CHECK:         %[[PLACE:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK:         scf.for
// CHECK-NOT:       llvm.alloca
// CHECK:           %[[BYTES:.*]] = llvm.ptrtoint
// CHECK:           call @kvfuse_allocate(%[[BYTES]], %[[PLACE]])
// CHECK:           %[[DATA:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK:           llvm.insertvalue %[[DATA]], %{{.*}}[0]
// CHECK:           llvm.insertvalue %[[DATA]], %{{.*}}[1]
// CHECK:           %[[M:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x8xbf16>
// CHECK:           "test.use"(%[[M]])
// CHECK:           call @kvfuse_release(%{{.*}}) : (!llvm.ptr) -> ()
// CHECK-NOT:       memref.alloc
func.func @temporaries(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.alloc(%n) {alignment = 64 : i64} : memref<?x8xbf16>
    "test.use"(%m) : (memref<?x8xbf16>) -> ()
    memref.dealloc %m : memref<?x8xbf16>
  }
  return
}
