// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-nvvm{mutates=auto chip=sm_100})' | FileCheck %s
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-gpu{mutates=auto},kv-finalize-nvvm{chip=sm_100})' | FileCheck %s

// One kernel of llvm and nvvm operations alone, with a target attached; the
// launch stays on the host side.

// CHECK:       module @kvfuse
// CHECK:         gpu.launch_func @kernels::@kv_write
// CHECK:         gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_100">] {
// CHECK-NOT:       {{^ *(%.* = )?(arith|memref|scf|cf|affine|kv|func|vector|builtin)\.[a-z]}}
// CHECK:           llvm.func @kv_write(
// CHECK-SAME:        attributes {gpu.kernel
// CHECK-NOT:       {{^ *(%.* = )?(arith|memref|scf|cf|affine|kv|func|vector|builtin)\.[a-z]}}
// CHECK:           nvvm.read.ptx.sreg.ctaid.x
// CHECK:           llvm.call @__assertfail
// CHECK:           llvm.return
