// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kvfuse-to-gpu{no-versioning assume-disjoint})' | FileCheck %s
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kvfuse-to-gpu{fuse=off assume-disjoint})' | FileCheck %s --check-prefix=OFF
// RUN: not kvfuse-opt %S/../Exports/hnd_layer_trunc_division.raw.mlir --allow-unregistered-dialect -o /dev/null \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-gpu{mutates=auto fuse=required})' 2>&1 | FileCheck %s --check-prefix=REQUIRED
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kvfuse-to-gpu{mutates=auto no-versioning})' | FileCheck %s --check-prefix=EXPORT

// Fused: one kernel, no temporary, no copy, nothing of the source left. All
// sizes are tested before the launch. Modules of other names stay.

// CHECK-LABEL: module @user {
// CHECK-NEXT:    func.func @other(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         arith.addf %{{.*}} : tensor<4xf32>
// CHECK-LABEL: module @kvfuse attributes {gpu.container_module} {
// CHECK-NOT:     tensor<
// CHECK-NOT:     kv.write
// CHECK-NOT:     kv.apply
// CHECK-NOT:     linalg
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         func.func @kv_write_0(
// CHECK-COUNT-2:   cf.assert
// CHECK-NEXT:      call @kv_write_0_unchecked(
// CHECK-NEXT:      return
// CHECK:         func.func private @kv_write_0_unchecked(
// CHECK-NOT:       cf.assert
// CHECK:           gpu.launch_func
// CHECK-NOT:       cf.assert
// CHECK-NOT:       gpu.launch_func
// CHECK:         func.func @layer(
// CHECK-NOT:       memref.alloc
// CHECK-NOT:       memref.copy
// CHECK-COUNT-2:   cf.assert
// CHECK-NEXT:      call @kv_write_0_unchecked(
// CHECK-NEXT:      return{{$}}
// CHECK:         gpu.func @kv_write(
// CHECK-COUNT-2:   memref.store
// CHECK-NOT:     gpu.func
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy

// Off: a launch for each operation, after all tests: page, offset and cast of
// each write, and two scatters.

// OFF:           func.func @kv_write_0(
// OFF:             gpu.launch_func
// OFF-NOT:         gpu.launch_func
// OFF:           func.func @kv_write_1(
// OFF:             gpu.launch_func
// OFF-NOT:         gpu.launch_func
// OFF:           func.func @layer(
// OFF-NOT:         gpu.launch_func
// OFF:             cf.assert
// OFF:             gpu.launch_func @kernels::@kv_apply
// OFF-NOT:         cf.assert
// OFF-COUNT-2:     gpu.launch_func
// OFF:             call @kv_write_0_unchecked(
// OFF-NOT:         cf.assert
// OFF-COUNT-2:     gpu.launch_func
// OFF:             call @kv_write_1_unchecked(
// OFF-NOT:         gpu.launch_func
// OFF:           gpu.module @kernels

// REQUIRED: hnd_layer_trunc_division.raw.mlir:{{.*}}error: the write was not fused, and fusing is required

// EXPORT:        module @kvfuse
// EXPORT-COUNT-1:  gpu.launch_func
// EXPORT-NOT:      gpu.launch_func
// EXPORT-NOT:      torch.

module @user {
  func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.addf %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
func.func @layer(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xbf16>, %kc: tensor<?x4x8xbf16> {bufferization.writable = true}, %vc: tensor<?x16x8xbf16> {bufferization.writable = true}) -> (tensor<?x4x8xbf16>, tensor<?x16x8xbf16>) {
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %x = kv.cast %k : tensor<?x8xf32> to tensor<?x8xbf16>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xbf16> into %kc : tensor<?x4x8xbf16> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  %q = kv.apply affine_map<(s) -> (s floordiv 16)>(%s) : tensor<?xi64>
  %r = kv.apply affine_map<(s) -> (s mod 16)>(%s) : tensor<?xi64>
  %1 = kv.write at(%q, %r : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xbf16> into %vc : tensor<?x16x8xbf16> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0, %1 : tensor<?x4x8xbf16>, tensor<?x16x8xbf16>
}
