// Views of one buffer at places that only the call knows: one launch if they are
// apart, and if they are not, one for each destination, in the order of the program.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-merge-writes,kv-version-layouts{assume-aligned},canonicalize,cse,convert-kv-to-gpu,canonicalize,cse)' \
// RUN:   | FileCheck %s --implicit-check-not=gpu.launch_func

// CHECK-LABEL: func.func private @places(
// CHECK-DAG:     %[[K:.*]] = memref.subview %arg3[0, %arg4, 0]
// CHECK-DAG:     %[[V:.*]] = memref.subview %arg3[0, %arg5, 0]
// CHECK:         %[[APART:.*]] = scf.if {{.*}} -> (i1)
// CHECK:         scf.if %[[APART]] {
// CHECK-NEXT:      gpu.launch_func @kernels::@kv_write blocks {{.*}} args(%arg0 : {{.*}}, %[[K]] : {{.*}}, %[[V]] : {{.*}}, %arg1 : {{.*}}, %arg2 :
// CHECK:         } else {
// CHECK-NEXT:      gpu.launch_func @kernels::@kv_write_0 {{.*}} args(%arg0 : {{.*}}, %[[K]] : {{.*}}, %arg1 :
// CHECK:           gpu.launch_func @kernels::@kv_write_0 {{.*}} args(%arg0 : {{.*}}, %[[V]] : {{.*}}, %arg2 :
// CHECK:         } {kv.versions}
// CHECK-NEXT:    return

// The two differ in the memory alone, so one store serves both.

// CHECK:       gpu.func @kv_write(
// CHECK:         %[[CACHE:.*]] = arith.select %{{.*}}, %arg2, %arg1 : memref<?x8xbf16,
// CHECK:         vector.store %{{.*}}, %[[CACHE]][{{.*}}] {alignment = 16 : i64}
// CHECK-NOT:     vector.store
// CHECK:       gpu.func @kv_write_0(
// CHECK-NOT:     vector.
!pool = memref<?x2x8xbf16>
!part = memref<?x8xbf16, strided<[16, 1], offset: ?>>
func.func private @places(%s: memref<7xi64>, %k: memref<7x8xbf16>, %v: memref<7x8xbf16>, %pool: !pool, %a: index, %b: index) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %pool, %c0 : !pool
  %kc = memref.subview %pool[0, %a, 0] [%n, 1, 8] [1, 1, 1] : !pool to !part
  %vc = memref.subview %pool[0, %b, 0] [%n, 1, 8] [1, 1, 1] : !pool to !part
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %k : memref<7x8xbf16> into %kc : !part map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<7xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<7x8xbf16> into %vc : !part map(affine_map<(t, s, d) -> (s, d)>)
  return
}
