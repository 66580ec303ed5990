// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-cpu{mutates=auto})' | FileCheck %s
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-cpu{mutates=auto fuse=off})' | FileCheck %s --check-prefix=OFF

// All of it is LLVM; an error is a message. Fused, nothing is allocated.

// CHECK:       module @kvfuse
// CHECK-NOT:     @malloc
// CHECK-NOT:     @memrefCopy
// CHECK-DAG:     llvm.func internal @main({{.*}}) -> !llvm.ptr
// CHECK-DAG:     llvm.func @_mlir_ciface_main({{.*}}) -> !llvm.ptr
// CHECK-DAG:     llvm.func internal @kv_write(
// CHECK-NOT:     @malloc
// CHECK-NOT:     {{^ *(%.* = )?(arith|memref|scf|cf|affine|kv|gpu|func|builtin)\.[a-z]}}

// Unfused, temporaries are freed.

// OFF:         module @kvfuse
// OFF-DAG:       llvm.func @malloc(
// OFF-DAG:       llvm.func @free(
// OFF-NOT:       @memrefCopy
// OFF-NOT:       {{^ *(%.* = )?(arith|memref|scf|cf|affine|kv|gpu|func|builtin)\.[a-z]}}
