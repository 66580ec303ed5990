// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-launch-to-llvm)' -split-input-file | FileCheck %s

// Kernels become handles; what is launched twice has one. Slots are made once,
// for the largest launch, and hold a memref's descriptor field by field, with the
// offset in the aligned pointer.

// CHECK:       func.func private @kvfuse_launch(!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, i64) attributes {kv.may_fail}
// CHECK:       llvm.mlir.global internal constant @kvfuse_image("ptx\00") {addr_space = 0 : i32, alignment = 16 : i64}
// CHECK:       llvm.mlir.global internal @kvfuse_module() {addr_space = 0 : i32} : !llvm.struct<(ptr, i64, ptr)> {
// CHECK:         %[[IMAGE:.*]] = llvm.mlir.addressof @kvfuse_image
// CHECK:         %[[SIZE:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK:       llvm.mlir.global internal constant @kvfuse_kernel_name_k("k\00")
// CHECK:       llvm.mlir.global internal @kvfuse_kernel_k() {addr_space = 0 : i32, kv.kernel} : !llvm.struct<(ptr, ptr, i64, ptr)> {
// CHECK:         llvm.mlir.addressof @kvfuse_module
// CHECK:         llvm.mlir.addressof @kvfuse_kernel_name_k
// CHECK-NOT:   llvm.mlir.global

// CHECK-LABEL: func.func @launches(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32, strided<[?], offset: ?>>, %[[X:.*]]: bf16, %[[N:.*]]: index, %[[T:.*]]: i32)
// CHECK:         %[[COUNT:.*]] = llvm.mlir.constant(6 : i64) : i64
// CHECK:         %[[SLOTS:.*]] = llvm.alloca %[[COUNT]] x i64
// CHECK-NOT:     llvm.alloca
// CHECK:         %[[DESC:.*]] = builtin.unrealized_conversion_cast %[[A]]
// CHECK:         %[[START:.*]] = llvm.extractvalue %[[DESC]][1]
// CHECK:         %[[OFFSET:.*]] = llvm.extractvalue %[[DESC]][2]
// CHECK:         %[[FIRST:.*]] = llvm.getelementptr %[[START]][%[[OFFSET]]] {{.*}} -> !llvm.ptr, f32
// CHECK:         %[[AT:.*]] = llvm.insertvalue %[[FIRST]], %[[DESC]][1]
// CHECK:         %[[ZERO:.*]] = llvm.mlir.constant(0 : index) : i64
// CHECK:         %[[NEW:.*]] = llvm.insertvalue %[[ZERO]], %[[AT]][2]
// CHECK:         %[[ALLOCATED:.*]] = llvm.extractvalue %[[NEW]][0]
// CHECK:         %[[ALIGNED:.*]] = llvm.extractvalue %[[NEW]][1]
// CHECK:         %[[NONE:.*]] = llvm.extractvalue %[[NEW]][2]
// CHECK:         %[[SIZE:.*]] = llvm.extractvalue %[[NEW]][3, 0]
// CHECK:         %[[STRIDE:.*]] = llvm.extractvalue %[[NEW]][4, 0]
// CHECK:         %[[SLOT0:.*]] = llvm.getelementptr %[[SLOTS]][0]
// CHECK:         llvm.store %[[ALLOCATED]], %[[SLOT0]]
// CHECK:         %[[SLOT1:.*]] = llvm.getelementptr %[[SLOTS]][1]
// CHECK:         llvm.store %[[ALIGNED]], %[[SLOT1]]
// CHECK:         llvm.store %[[NONE]],
// CHECK:         llvm.store %[[SIZE]],
// CHECK:         llvm.store %[[STRIDE]],
// CHECK:         %[[SLOT5:.*]] = llvm.getelementptr %[[SLOTS]][5]
// CHECK:         llvm.store %[[X]], %[[SLOT5]] : bf16
// CHECK:         %[[KERNEL:.*]] = llvm.mlir.addressof @kvfuse_kernel_k
// CHECK:         %[[GRID:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
// CHECK:         %[[USED:.*]] = llvm.mlir.constant(6 : i64)
// CHECK:         call @kvfuse_launch(%[[KERNEL]], %[[GRID]], {{.*}}, %[[SLOTS]], %[[USED]])
// CHECK:         scf.if
// CHECK:           llvm.store
// CHECK:           %[[WIDE:.*]] = llvm.zext %[[T]] : i32 to i64
// CHECK:           %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:           func.call @kvfuse_launch(%{{.*}}, %[[SLOTS]], %[[ONE]])
// CHECK-NOT:     gpu.

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "ptx">]
  func.func @launches(%a: memref<?xf32, strided<[?], offset: ?>>, %x: bf16, %n: index, %t: i32) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?xf32, strided<[?], offset: ?>>, %x : bf16)
    %some = arith.cmpi ne, %n, %c1 : index
    scf.if %some {
      gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%t, %one, %one) : i32 args(%n : index)
    }
    return
  }
}

// -----

// A cubin is not text, and a function without launches has no slots.

// CHECK:       @kvfuse_image("\7FELF\00\00") {{.*}}alignment = 16 : i64}
// CHECK:         llvm.mlir.constant(6 : i64)
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    return
module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, bin = "\7FELF\00\00">]
  func.func @none() {
    return
  }
}
