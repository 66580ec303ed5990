// Facts between this pass and the kernels: they survive canonicalization, and each
// access claims the alignment that was tested for it, no other.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{assume-disjoint},canonicalize,cse,canonicalize,convert-kv-to-gpu{tokens-per-thread=1},canonicalize,cse)' \
// RUN:   | FileCheck %s --implicit-check-not=gpu.launch_func --implicit-check-not=vector. --implicit-check-not=arith.trunci

// One launch on each path, of the kernel that its test is about; each is in a
// condition of its own (SX9). Nothing is launched behind the branches.

// CHECK-LABEL: func.func @rows(
// CHECK:         %[[WIDE:.*]] = arith.cmpi eq, %{{.*}}, %c0 : index
// CHECK-NEXT:    scf.if %[[WIDE]] {
// CHECK:           %[[V:.*]] = memref.reinterpret_cast %arg1 {{.*}} strides: [%{{.*}}, %{{.*}}, 1]
// CHECK:           %[[C:.*]] = memref.reinterpret_cast %arg2 {{.*}} strides: [%{{.*}}, %{{.*}}, 1]
// CHECK:           scf.if
// CHECK-NEXT:        gpu.launch_func @kernels::@kv_write blocks in (%dim_0, %c1, %c1) {{.*}} args(%arg0 : memref<?xi32>, %[[C]] : {{.*}}, %[[V]] : {{.*$}}
// CHECK-NEXT:      }
// CHECK-NEXT:    } else {
// CHECK:           %[[NARROW:.*]] = arith.cmpi eq, %{{.*}}, %c0 : index
// CHECK-NEXT:      scf.if %[[NARROW]] {
// CHECK:             %[[V:.*]] = memref.reinterpret_cast %arg1
// CHECK:             %[[C:.*]] = memref.reinterpret_cast %arg2
// CHECK:             scf.if
// CHECK-NEXT:          gpu.launch_func @kernels::@kv_write_0 {{.*}} args(%arg0 : memref<?xi32>, %[[C]] : {{.*}}, %[[V]] : {{.*$}}
// CHECK-NEXT:        }
// CHECK-NEXT:      } else {
// CHECK:             scf.if
// CHECK-NEXT:          gpu.launch_func @kernels::@kv_write_1 {{.*}} args(%arg0 : memref<?xi32>, %arg2 : {{.*}}, %arg1 : {{.*$}}
// CHECK-NEXT:        }
// CHECK-NEXT:      } {kv.versions}
// CHECK-NEXT:    } {kv.versions}
// CHECK-NEXT:    return

// In each of the kernels a slot is compared, in 64 bits, before anything is made of
// it. Groups of 8 elements lie at multiples of 16 bytes, the rest of a row of 46
// goes by element.

// CHECK:       gpu.func @kv_write(%{{.*}}: memref<?xi32>, %[[C:[^:]*]]: memref<?x4x46xbf16, strided<[?, ?, 1], offset: ?>>, %[[V:[^:]*]]: memref<?x4x46xbf16, strided<[?, ?, 1], offset: ?>>)
// CHECK:         %[[SLOT:.*]] = memref.load %{{.*}} : memref<?xi32>
// CHECK-NEXT:    %[[ROW:.*]] = arith.index_cast %[[SLOT]] : i32 to index
// CHECK-NEXT:    arith.cmpi slt, %[[ROW]]
// CHECK:         arith.cmpi ult, %{{.*}}, %dim : index
// CHECK:         %[[X:.*]] = vector.load %[[V]][{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
// CHECK-NEXT:    vector.store %[[X]], %[[C]][{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
// CHECK:         memref.store %{{.*}}, %[[C]]

// Rows of 46 side by side start at multiples of 4 bytes: groups of 2, and no rest.
// They are loaded beside the slot.

// CHECK:       gpu.func @kv_write_0(%{{.*}}: memref<?xi32>, %[[C:[^:]*]]: memref<?x4x46xbf16, strided<[?, ?, 1], offset: ?>>, %[[V:[^:]*]]: memref<?x4x46xbf16, strided<[?, ?, 1], offset: ?>>)
// CHECK:         %[[X:.*]] = vector.load %[[V]][{{.*}}] {alignment = 4 : i64} : {{.*}}, vector<2xbf16>
// CHECK-NEXT:    %[[SLOT:.*]] = memref.load %{{.*}} : memref<?xi32>
// CHECK-NEXT:    arith.index_cast %[[SLOT]] : i32 to index
// CHECK-NEXT:    arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{.*}}, %dim : index
// CHECK:         vector.store %[[X]], %[[C]][{{.*}}] {alignment = 4 : i64} : {{.*}}, vector<2xbf16>
// CHECK-NOT:     memref.store

// And by element at any stride and address: nothing is claimed of either, but that
// a slot has the alignment of its type.

// CHECK:       gpu.func @kv_write_1(%{{.*}}: memref<?xi32>, %[[C:[^:]*]]: memref<?x4x46xbf16, strided<[?, ?, ?], offset: ?>>, %[[V:[^:]*]]: memref<?x4x46xbf16, strided<[?, ?, ?], offset: ?>>)
// CHECK:         %[[X:.*]] = memref.load %[[V]][%{{.*}}, %{{.*}}, %{{.*}}] : memref<
// CHECK-NEXT:    memref.load %{{.*}}[%block_id_x] {alignment = 4 : i64} : memref<?xi32>
// CHECK-NEXT:    arith.index_cast %{{.*}} : i32 to index
// CHECK-NEXT:    arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{.*}}, %dim : index
// CHECK-NOT:     alignment
// CHECK:         memref.store %[[X]], %[[C]][%{{.*}}, %{{.*}}, %{{.*}}] : memref<
// CHECK-NOT:     alignment

!rows = memref<?x4x46xbf16, strided<[?, ?, ?], offset: ?>>
func.func @rows(%s: memref<?xi32>, %v: !rows, %c: !rows) {
  kv.write at(%s : memref<?xi32>) negative(wrap) out_of_bounds(trap)
    put %v : !rows into %c : !rows map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return
}
