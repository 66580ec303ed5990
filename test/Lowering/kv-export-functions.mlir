// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-export-functions)' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-export-functions{cuda=true})' | FileCheck %s --check-prefixes=CHECK,CUDA

// CHECK:       llvm.mlir.global internal constant @kvfuse_name_f("f\00")
// CHECK:       llvm.mlir.global internal constant @kvfuse_argument_f_0("k_cache\00")
// CHECK:       llvm.mlir.global internal constant @kvfuse_sizes_f_0() {{.*}} : !llvm.array<2 x i64> {
// CHECK-DAG:     llvm.mlir.constant(-1 : i64)
// CHECK-DAG:     llvm.mlir.constant(8 : i64)

// Name, data type (float8_e4m3fn is DLPack's number 10), rank, written, sizes; a
// scalar has rank -1, and a byte of either sign no lanes.

// CHECK:       llvm.mlir.global internal constant @kvfuse_arguments_f() {{.*}} : !llvm.array<3 x struct<(ptr, struct<(i8, i8, i16)>, i32, i32, ptr)>> {
// CHECK:         llvm.mlir.addressof @kvfuse_argument_f_0
// CHECK:         llvm.mlir.constant(10 : i8)
// CHECK:         llvm.mlir.constant(8 : i8)
// CHECK:         llvm.mlir.constant(1 : i16)
// CHECK:         llvm.mlir.constant(2 : i32)
// CHECK:         llvm.mlir.constant(1 : i32)
// CHECK:         llvm.mlir.addressof @kvfuse_sizes_f_0
// CHECK:         llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.mlir.constant(0 : i8)
// CHECK:         llvm.mlir.constant(8 : i8)
// CHECK:         llvm.mlir.constant(0 : i16)
// CHECK:         llvm.mlir.constant(0 : i32)
// CHECK:         llvm.mlir.constant(0 : i32)
// CHECK:         llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.mlir.constant(4 : i8)
// CHECK:         llvm.mlir.constant(16 : i8)
// CHECK:         llvm.mlir.constant(-1 : i32)

// Kernels that it launches itself, and by calls.

// CHECK:       llvm.mlir.global internal constant @kvfuse_kernels_f() {{.*}} : !llvm.array<2 x ptr> {
// CHECK-DAG:     llvm.mlir.addressof @kernel_a
// CHECK-DAG:     llvm.mlir.addressof @kernel_b

// CHECK:       llvm.mlir.global internal constant @kvfuse_function_f()
// CHECK:         llvm.mlir.addressof @kvfuse_name_f
// CHECK:         llvm.mlir.addressof @kvfuse_entry_f
// CHECK:         llvm.mlir.addressof @kvfuse_arguments_f
// CHECK:         llvm.mlir.constant(3 : i32)
// CPU:           llvm.mlir.constant(1 : i32)
// CUDA:          llvm.mlir.constant(2 : i32)
// CHECK:         llvm.mlir.addressof @kvfuse_kernels_f
// CHECK:         llvm.mlir.constant(2 : i32)

llvm.mlir.global internal @kernel_a() {kv.kernel} : i64
llvm.mlir.global internal @kernel_b() {kv.kernel} : i64
llvm.mlir.global internal @kernel_c() {kv.kernel} : i64
llvm.mlir.global internal @counters() : i64

llvm.func internal @f(%c: !llvm.ptr, %b: !llvm.ptr, %x: i16) -> !llvm.ptr attributes {kv.signature = []} {
  %counters = llvm.mlir.addressof @counters : !llvm.ptr
  %kernel = llvm.mlir.addressof @kernel_a : !llvm.ptr
  %s = llvm.call @g() : () -> !llvm.ptr
  llvm.return %kernel : !llvm.ptr
}
llvm.func internal @g() -> !llvm.ptr {
  %kernel = llvm.mlir.addressof @kernel_b : !llvm.ptr
  llvm.return %kernel : !llvm.ptr
}
llvm.func internal @h() -> !llvm.ptr {
  %kernel = llvm.mlir.addressof @kernel_c : !llvm.ptr
  llvm.return %kernel : !llvm.ptr
}
llvm.func @_mlir_ciface_f(%c: !llvm.ptr, %b: !llvm.ptr, %x: i16) -> !llvm.ptr attributes {
  kv.signature = [{dtype = "float8_e4m3fn", name = "k_cache", sizes = array<i64: -1, 8>, written},
                  {dtype = "int8 or uint8", sizes = array<i64>}, {dtype = "bfloat16"}]
} {
  %s = llvm.call @f(%c, %b, %x) : (!llvm.ptr, !llvm.ptr, i16) -> !llvm.ptr
  llvm.return %s : !llvm.ptr
}

// The entry passes on descriptors, and loads scalars.

// CHECK-LABEL: llvm.func internal @kvfuse_entry_f(
// CHECK-SAME:    %[[ARGUMENTS:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[PLACE0:.*]] = llvm.getelementptr %[[ARGUMENTS]][0]
// CHECK:         %[[C:.*]] = llvm.load %[[PLACE0]] : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[X_PLACE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[X:.*]] = llvm.load %[[X_PLACE]] : !llvm.ptr -> i16
// CHECK:         %[[STATUS:.*]] = llvm.call @_mlir_ciface_f(%[[C]], %[[B]], %[[X]])
// CHECK:         llvm.return %[[STATUS]]

// CHECK-LABEL: llvm.func @__tvm_ffi_f(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %[[COUNT:.*]]: i32, %[[RESULT:.*]]: !llvm.ptr) -> i32
// CHECK:         %[[F:.*]] = llvm.mlir.addressof @kvfuse_function_f
// CHECK:         %[[CODE:.*]] = llvm.call @kvfuse_call(%[[F]], %[[ARGS]], %[[COUNT]], %[[RESULT]])
// CHECK:         llvm.return %[[CODE]] : i32

// CPU-NOT:     __tvm_ffi_f_load
// CUDA-LABEL:  llvm.func @__tvm_ffi_f_load(
// CUDA:          llvm.call @kvfuse_load(
// CHECK-NOT:   @__tvm_ffi_g
