// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-gpu-host{mutates=auto})' | FileCheck %s
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-gpu-host{mutates=auto fuse=off count-branches=true})' | FileCheck %s --check-prefix=OFF

// Host code that launches; kernels are PTX. Fused, nothing is allocated.

// CHECK:       module @kvfuse
// CHECK-NOT:     @kvfuse_allocate
// CHECK-DAG:     llvm.mlir.global internal constant @kvfuse_image({{.*}}.visible .entry kv_write(
// CHECK-DAG:     llvm.mlir.global internal @kvfuse_kernel_kv_write()
// CHECK-DAG:     llvm.func @kvfuse_launch({{.*}}) -> !llvm.ptr
// CHECK-DAG:     llvm.func @_mlir_ciface_main({{.*}}) -> !llvm.ptr
// CHECK-DAG:     llvm.func @__tvm_ffi_main(
// CHECK-DAG:     llvm.func @__tvm_ffi_main_load(
// CHECK-NOT:     @malloc
// CHECK-NOT:     {{^ *(%.* = )?(arith|memref|scf|cf|affine|kv|gpu|func|builtin)\.[a-z]}}

// Unfused, temporaries are the device's.

// OFF:         module @kvfuse
// OFF-DAG:       llvm.func @kvfuse_allocate(i64, !llvm.ptr) -> !llvm.ptr
// OFF-DAG:       llvm.func @kvfuse_release(!llvm.ptr)
// OFF-NOT:       @malloc
// OFF-NOT:       @memrefCopy
// OFF-NOT:       {{^ *(%.* = )?(arith|memref|scf|cf|affine|kv|gpu|func|builtin)\.[a-z]}}
