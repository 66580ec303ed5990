// What is proven, what is tested, and in which version a write runs.
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{assume-disjoint},canonicalize,cse)' -split-input-file | FileCheck %s
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{no-versioning assume-disjoint},canonicalize,cse)' -split-input-file | FileCheck %s --check-prefix=PROVEN
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{assume-aligned assume-disjoint},canonicalize,cse)' -split-input-file | FileCheck %s --check-prefix=ASSUMED
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts{count-branches assume-disjoint})' -split-input-file | FileCheck %s --check-prefix=COUNT

// Nothing is known but the sizes: 16 bytes, then 4, then by element. Strides,
// of the outer dimension only where there is more than one, and addresses are
// folded into one number that has to be zero.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[S:[^:]*]]: memref<?xi64>, %[[V:[^:]*]]: memref<?x4x128xbf16, {{.*}}>, %[[C:[^:]*]]: memref<
// CHECK:       cf.assert %{{.*}}, "SX10: values of destination 0
// CHECK:       %{{.*}}, %{{.*}}, %[[SIZES:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata %[[V]]
// CHECK:       arith.subi %[[STRIDES]]#2, %c1
// CHECK:       arith.andi %[[STRIDES]]#0, %c7
// CHECK:       %[[ONE:.*]] = arith.cmpi eq, %[[SIZES]]#0, %c1
// CHECK:       arith.select %[[ONE]], %c0
// CHECK:       arith.andi %[[STRIDES]]#1, %c7
// CHECK-NOT:   arith.select {{.*}}
// CHECK:       %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index %[[V]]
// CHECK:       %[[ADDRESS:.*]] = arith.addi %[[POINTER]]
// CHECK:       arith.andi %[[ADDRESS]], %c15
// CHECK:       %[[WIDE:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK-NOT:   cf.assert
// CHECK:       scf.if %[[WIDE]] {
// CHECK:         kv.write
// CHECK-NEXT:      put %{{.*}} : memref<?x4x128xbf16, strided<[?, ?, 1], offset: ?>> into %{{.*}} : memref<?x4x32x128xbf16, strided<[?, ?, ?, 1], offset: ?>> access(8)
// CHECK-SAME:      kv.branch = "16 bytes"
// CHECK:       } else {
// CHECK:         %[[NARROW:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK:         scf.if %[[NARROW]] {
// CHECK:           access(2)
// CHECK-SAME:        kv.branch = "4 bytes"
// CHECK:         } else {
// CHECK-NEXT:      kv.write
// CHECK-NEXT:        put %[[V]] : {{.*}} into %[[C]] : {{.*}} access(1)
// CHECK-SAME:        kv.branch = "by element"
// CHECK-NEXT:    } {kv.versions}
// CHECK-NEXT:  } {kv.versions}

// What may not be tested is taken not to hold.
// PROVEN-LABEL: func.func @dynamic(
// PROVEN-NOT:     scf.if
// PROVEN:         access(1)

// Of a promised alignment the last stride remains.
// ASSUMED-LABEL: func.func @dynamic(
// ASSUMED-NOT:     arith.andi
// ASSUMED-NOT:     extract_aligned_pointer
// ASSUMED:         scf.if
// ASSUMED:           access(8)
// ASSUMED:         } else {
// ASSUMED-NEXT:      kv.write
// ASSUMED-NEXT:        access(1)

// COUNT:       memref.global @kvfuse_branches : memref<3xi64> = dense<0>
// COUNT-SAME:    branch = "16 bytes", function = "dynamic", location = #
// COUNT-SAME:    branch = "4 bytes"
// COUNT-SAME:    branch = "by element"
// COUNT:       func.func private @kvfuse_count_branch(%[[I:.*]]: index)
// COUNT:         memref.atomic_rmw addi %{{.*}}, %{{.*}}[%[[I]]]
// COUNT-LABEL: func.func @dynamic(
// COUNT:         call @kvfuse_count_branch(
// COUNT-NEXT:    kv.write
func.func @dynamic(%s: memref<?xi64>,
    %v: memref<?x4x128xbf16, strided<[?, ?, ?], offset: ?>>,
    %c: memref<?x4x32x128xbf16, strided<[?, ?, ?, ?], offset: ?>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x128xbf16, strided<[?, ?, ?], offset: ?>>
        into %c : memref<?x4x32x128xbf16, strided<[?, ?, ?, ?], offset: ?>>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}

// -----

// All is proven: no test, one version, no branch.
// CHECK-LABEL: func.func @proven(
// CHECK-NOT:     arith
// CHECK-NOT:     scf
// CHECK:         kv.write
// CHECK-NEXT:      access(8)
// CHECK-SAME:      kv.branch = "16 bytes"
// CHECK-NEXT:    return
func.func @proven(%s: memref<4xi64>, %v: memref<4x128xbf16>, %c: memref<?x128xbf16>) {
  %from = memref.assume_alignment %v, 16 : memref<4x128xbf16>
  %to = memref.assume_alignment %c, 256 : memref<?x128xbf16>
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %from : memref<4x128xbf16> into %to : memref<?x128xbf16>
        map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// A view of an aligned buffer starts where its offset says: 12 bytes in, so 4
// bytes are the widest access, which is proven. Nothing is promised that is not
// true of it.
// CHECK-LABEL: func.func @offset(
// CHECK-NOT:     scf
// CHECK:         access(2)
// CHECK-SAME:      kv.branch = "4 bytes"
// ASSUMED-LABEL: func.func @offset(
// ASSUMED-NOT:     scf
// ASSUMED:         access(2)
func.func @offset(%s: memref<4xi64>, %v: memref<4x16xbf16>, %pool: memref<64x32xbf16>) {
  %from = memref.assume_alignment %v, 16 : memref<4x16xbf16>
  %aligned = memref.assume_alignment %pool, 16 : memref<64x32xbf16>
  %c = memref.subview %aligned[0, 6] [64, 16] [1, 1]
      : memref<64x32xbf16> to memref<64x16xbf16, strided<[32, 1], offset: 6>>
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %from : memref<4x16xbf16> into %c : memref<64x16xbf16, strided<[32, 1], offset: 6>>
        map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Rows of 132 bytes, at columns that the slot and the map say: 4 bytes.
// CHECK-LABEL: func.func @byte_row(
// CHECK:         access(4)
// CHECK-NOT:     access(16)
func.func @byte_row(%s: memref<?xi64>, %v: memref<?x128xi8>, %c: memref<?x4224xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x128xi8> into %c : memref<?x4224xi8> box
        map(affine_map<(t, s, r) -> (s floordiv 32, (s mod 32) * 132 + r)>)
  return
}

// -----

// A destination of another last stride is written by element, the other one 16
// bytes at a time, in one kernel.
// CHECK-LABEL: func.func @mixed(
// CHECK:         scf.if
// CHECK:           kv.write {{.*}} disjoint
// CHECK-NEXT:        access(8)
// CHECK-NEXT:        access(1)
// CHECK-SAME:        kv.branch = "16/2 bytes"
func.func @mixed(%s: memref<?xi64>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
    %kc: memref<?x64xbf16>, %vc: memref<?x64xbf16, strided<[256, 4]>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : memref<?x64xbf16> into %kc : memref<?x64xbf16>
        map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x64xbf16> into %vc : memref<?x64xbf16, strided<[256, 4]>>
        map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Rows without gaps of 92 bytes are aligned to 4, those beside them to 16.
// CHECK-LABEL: func.func @natural(
// CHECK:         access(8)
// CHECK-NEXT:    access(8)
// CHECK-SAME:    kv.branch = "16 bytes"
// CHECK:         access(8)
// CHECK-NEXT:    access(2)
// CHECK-SAME:    kv.branch = "16/4 bytes"
// CHECK:         access(1)
// CHECK-NEXT:    access(1)
func.func @natural(%s: memref<?xi64>,
    %k: memref<?x128xbf16, strided<[?, 1]>>, %v: memref<?x46xbf16, strided<[?, 1]>>,
    %kc: memref<?x128xbf16, strided<[?, 1]>>, %vc: memref<?x46xbf16, strided<[?, 1]>>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : memref<?x128xbf16, strided<[?, 1]>> into %kc : memref<?x128xbf16, strided<[?, 1]>>
        map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x46xbf16, strided<[?, 1]>> into %vc : memref<?x46xbf16, strided<[?, 1]>>
        map(affine_map<(t, s, d) -> (s, d)>)
  return
}
