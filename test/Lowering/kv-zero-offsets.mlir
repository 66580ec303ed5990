// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-zero-offsets)' | FileCheck %s

// Offsets are 0 in a kernel; scalars between buffers have a parameter each. Sizes,
// strides and kernels that nobody launches stay as they are.

// CHECK-LABEL: llvm.func @offsets(
// CHECK-SAME:    %[[SCALAR:[a-z0-9]+]]: i64, %{{[a-z0-9]+}}: !llvm.ptr, %[[A:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: i64, %[[SIZE:[a-z0-9]+]]: i64, %[[STRIDE:[a-z0-9]+]]: i64,
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[B:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: i64)
// CHECK-DAG:     %[[ZERO_A:.*]] = llvm.mlir.constant(0 : index) : i64
// CHECK-DAG:     %[[ZERO_B:.*]] = llvm.mlir.constant(0 : index) : i64
// CHECK:         llvm.getelementptr %[[A]][%[[ZERO_A]]]
// CHECK:         llvm.getelementptr %[[B]][%[[ZERO_B]]]
// CHECK:         llvm.getelementptr %[[A]][%[[SCALAR]]]
// CHECK:         llvm.getelementptr %[[A]][%[[SIZE]]]
// CHECK:         llvm.getelementptr %[[A]][%[[STRIDE]]]

// CHECK-LABEL: llvm.func @helper(
// CHECK-SAME:    %[[P:.*]]: !llvm.ptr, %[[N:.*]]: i64)
// CHECK-NEXT:    llvm.getelementptr %[[P]][%[[N]]]
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @offsets(%scalar: i64, %a0: !llvm.ptr, %a: !llvm.ptr, %a_offset: i64, %size: i64, %stride: i64, %b0: !llvm.ptr, %b: !llvm.ptr, %b_offset: i64) attributes {gpu.kernel, nvvm.kernel} {
      %0 = llvm.getelementptr %a[%a_offset] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %1 = llvm.getelementptr %b[%b_offset] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %2 = llvm.getelementptr %a[%scalar] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %3 = llvm.getelementptr %a[%size] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %4 = llvm.getelementptr %a[%stride] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.return
    }
    llvm.func @helper(%p: !llvm.ptr, %n: i64) {
      %0 = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.return
    }
  }
  func.func @launch(%scalar: index, %a: memref<?xf32, strided<[?], offset: ?>>, %b: memref<f32, strided<[], offset: ?>>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@offsets blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%scalar : index, %a : memref<?xf32, strided<[?], offset: ?>>, %b : memref<f32, strided<[], offset: ?>>)
    return
  }
}
