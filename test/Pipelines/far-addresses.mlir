// Addresses beyond 32 bits (cases G1, G2, G4, G6): a slot is widened, with its sign,
// by the instruction behind its load, and nothing is computed in 32 bits after that.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kvfuse-to-nvvm{no-versioning assume-disjoint})' \
// RUN:   | FileCheck %s --implicit-check-not=llvm.trunc \
// RUN:   --implicit-check-not="{{llvm\.(mul|add|sub|shl|icmp|select) .*i32}}"
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kvfuse-to-cpu{no-versioning assume-disjoint})' \
// RUN:   | FileCheck %s --check-prefix=CPU --implicit-check-not=llvm.trunc \
// RUN:   --implicit-check-not="{{llvm\.(mul|add|sub|shl|icmp|select) .*i32}}"

// What the loads of slots of 4 bytes give is widened; other values of 32 bits are the
// numbers of threads and blocks, which are widened too.

// CHECK:       llvm.func @kv_write(
// CHECK:         %[[STRIDE:[0-9]+]] = llvm.mlir.constant(67108864 : index) : i64
// CHECK:         %[[SLOT:[0-9]+]] = llvm.load %{{.*}} -> i32
// CHECK-NEXT:    %[[WIDE:[0-9]+]] = llvm.sext %[[SLOT]] : i32 to i64
// CHECK-NEXT:    %[[NEG:[0-9]+]] = llvm.icmp "slt" %[[WIDE]], %{{.*}} : i64
// CHECK-NEXT:    %[[SUM:[0-9]+]] = llvm.add %[[WIDE]], %{{.*}} : i64
// CHECK-NEXT:    %[[ROW:[0-9]+]] = llvm.select %[[NEG]], %[[SUM]], %[[WIDE]] : i1, i64
// CHECK-NEXT:    llvm.icmp "ult" %[[ROW]], %{{.*}} : i64
// CHECK:         llvm.mul %[[ROW]], %[[STRIDE]] overflow<nsw, nuw> : i64

// CPU:         llvm.func {{.*}}@kv_write(
// CPU:           %[[SLOT:[0-9]+]] = llvm.load %{{.*}} -> i32
// CPU-NEXT:      %[[WIDE:[0-9]+]] = llvm.sext %[[SLOT]] : i32 to i64
// CPU-NEXT:      llvm.icmp "slt" %[[WIDE]], %{{.*}} : i64

// Groups of elements are addressed as elements are.

// CHECK:       llvm.func @kv_write_0(
// CHECK:         %[[STRIDE:[0-9]+]] = llvm.mlir.constant(67108864 : index) : i64
// CHECK:         %[[SLOT:[0-9]+]] = llvm.load %{{.*}} -> i32
// CHECK-NEXT:    llvm.sext %[[SLOT]] : i32 to i64
// CHECK:         %[[OFFSET:[0-9]+]] = llvm.mul %{{.*}}, %[[STRIDE]] : i64
// CHECK-NEXT:    %[[SUM:[0-9]+]] = llvm.add %[[OFFSET]], %{{.*}} : i64
// CHECK-NEXT:    %[[ADDRESS:[0-9]+]] = llvm.getelementptr %{{.*}}[%[[SUM]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         llvm.store %{{.*}}, %[[ADDRESS]] {alignment = 16 : i64} : vector<4xf32>

module { module @kvfuse {
  func.func @main(%s: memref<?xi32>, %v: memref<?x8xf32>, %c: memref<?x8xf32, strided<[67108864, 1]>>) {
    kv.write at(%s : memref<?xi32>) negative(wrap) out_of_bounds(skip)
      put %v : memref<?x8xf32> into %c : memref<?x8xf32, strided<[67108864, 1]>> access(1)
      map(affine_map<(t, s, d) -> (s, d)>)
    return
  }
  func.func @groups(%s: memref<?xi32>, %v: memref<?x8xf32>, %c: memref<?x8xf32, strided<[67108864, 1]>>) {
    kv.write at(%s : memref<?xi32>) negative(wrap) out_of_bounds(skip)
      put %v : memref<?x8xf32> into %c : memref<?x8xf32, strided<[67108864, 1]>> access(4)
      map(affine_map<(t, s, d) -> (s, d)>)
    return
  }
}}
