// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-small-floats-to-bits)' -split-input-file | FileCheck %s

// The parameter, the argument of a block and the element that is stored.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[X:.*]]: i16, %[[FLAG:.*]]: i1, %[[A:.*]]: memref<?xi16, strided<[?], offset: ?>>, %[[I:.*]]: index) -> i16 {
// CHECK:         %[[Y:.*]] = memref.load %[[A]][%[[I]]] : memref<?xi16, strided<[?], offset: ?>>
// CHECK:         cf.cond_br %[[FLAG]], ^[[JOIN:.*]](%[[X]] : i16), ^[[JOIN]](%[[Y]] : i16)
// CHECK:       ^[[JOIN]](%[[Z:.*]]: i16):
// CHECK:         memref.store %[[Z]], %[[A]][%[[I]]]
// CHECK:         return %[[Z]] : i16
func.func @blocks(%x: bf16, %flag: i1,
                  %a: memref<?xbf16, strided<[?], offset: ?>>, %i: index) -> bf16 {
  %y = memref.load %a[%i] : memref<?xbf16, strided<[?], offset: ?>>
  cf.cond_br %flag, ^join(%x : bf16), ^join(%y : bf16)
^join(%z: bf16):
  memref.store %z, %a[%i] : memref<?xbf16, strided<[?], offset: ?>>
  return %z : bf16
}

// CHECK-LABEL: func.func @caller(
// CHECK-NEXT:    call @blocks(%{{.*}}) : (i16, i1, memref<?xi16, strided<[?], offset: ?>>, index) -> i16
func.func @caller(%x: bf16, %flag: i1,
                  %a: memref<?xbf16, strided<[?], offset: ?>>, %i: index) {
  %y = call @blocks(%x, %flag, %a, %i)
    : (bf16, i1, memref<?xbf16, strided<[?], offset: ?>>, index) -> bf16
  return
}

// -----

// Constants keep their bits, and casts to and from them are gone. Floats of 32
// bits stay.

// CHECK:       memref.global "private" constant @table : memref<2xi16> = dense<[16256, -16384]>
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[BITS:.*]]: i8, %[[FLAG:.*]]: i1, %[[W:.*]]: f32) -> (i8, i16, f32) {
// CHECK-DAG:     %[[F8:.*]] = arith.constant 56 : i8
// CHECK-DAG:     %[[F16:.*]] = arith.constant 15360 : i16
// CHECK:         %[[Y:.*]] = arith.select %[[FLAG]], %[[F8]], %[[BITS]] : i8
// CHECK:         return %[[Y]], %[[F16]], %[[W]] : i8, i16, f32
memref.global "private" constant @table : memref<2xbf16> = dense<[1.0, -2.0]>
func.func @constants(%bits: i8, %flag: i1, %w: f32) -> (i8, f16, f32) {
  %f8 = arith.constant 1.0 : f8E4M3FN
  %f16 = arith.constant 1.0 : f16
  %x = arith.bitcast %bits : i8 to f8E4M3FN
  %y = arith.select %flag, %f8, %x : f8E4M3FN
  %z = arith.bitcast %y : f8E4M3FN to i8
  return %z, %f16, %w : i8, f16, f32
}

// -----

// Vectors of them are carried as vectors of bits.

// CHECK-LABEL: func.func @vectors(
// CHECK-SAME:    %[[A:.*]]: memref<?xi16>, %[[I:.*]]: index, %[[X:.*]]: i16) -> vector<4xi16> {
// CHECK:         %[[ONES:.*]] = arith.constant dense<16256> : vector<4xi16>
// CHECK:         %[[V:.*]] = vector.load %[[A]][%[[I]]] {alignment = 8 : i64} : memref<?xi16>, vector<4xi16>
// CHECK:         %[[E:.*]] = vector.extract %[[V]][1] : i16 from vector<4xi16>
// CHECK:         %[[W:.*]] = vector.from_elements %[[E]], %[[X]], %[[E]], %[[X]] : vector<4xi16>
// CHECK:         vector.store %[[W]], %[[A]][%[[I]]]
// CHECK:         %[[B:.*]] = vector.broadcast %[[X]] : i16 to vector<4xi16>
// CHECK:         vector.store %[[B]], %[[A]][%[[I]]]
// CHECK:         return %[[ONES]] : vector<4xi16>
func.func @vectors(%a: memref<?xbf16>, %i: index, %x: bf16) -> vector<4xbf16> {
  %ones = arith.constant dense<1.0> : vector<4xbf16>
  %v = vector.load %a[%i] {alignment = 8} : memref<?xbf16>, vector<4xbf16>
  %e = vector.extract %v[1] : bf16 from vector<4xbf16>
  %w = vector.from_elements %e, %x, %e, %x : vector<4xbf16>
  vector.store %w, %a[%i] : memref<?xbf16>, vector<4xbf16>
  %b = vector.broadcast %x : bf16 to vector<4xbf16>
  vector.store %b, %a[%i] : memref<?xbf16>, vector<4xbf16>
  return %ones : vector<4xbf16>
}
