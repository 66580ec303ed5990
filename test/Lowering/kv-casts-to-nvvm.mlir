// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(func.func(kv-casts-to-nvvm))' | FileCheck %s --implicit-check-not=math.

// SC3: the instruction saturates. Its first operand goes into the high byte.

// CHECK-LABEL: func @SC3_saturating(
// CHECK-SAME:    %[[X:.*]]: vector<4xf32>)
// CHECK-NOT:     arith.cmpf
// CHECK-DAG:     %[[X0:.*]] = vector.extract %[[X]][0]
// CHECK-DAG:     %[[X1:.*]] = vector.extract %[[X]][1]
// CHECK:         %[[LOW:.*]] = nvvm.convert.f32x2.to.f8x2 %[[X1]], %[[X0]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
// CHECK-DAG:     %[[X2:.*]] = vector.extract %[[X]][2]
// CHECK-DAG:     %[[X3:.*]] = vector.extract %[[X]][3]
// CHECK:         %[[HIGH:.*]] = nvvm.convert.f32x2.to.f8x2 %[[X3]], %[[X2]]
// CHECK:         %[[PAIRS:.*]] = vector.from_elements %[[LOW]], %[[HIGH]] : vector<2xi16>
// CHECK:         %[[BYTES:.*]] = vector.bitcast %[[PAIRS]] : vector<2xi16> to vector<4xi8>
// CHECK:         %[[Y:.*]] = arith.bitcast %[[BYTES]] : vector<4xi8> to vector<4xf8E4M3FN>
// CHECK:         return %[[Y]]
func.func @SC3_saturating(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
  %y = kv.cast %x saturating : vector<4xf32> to vector<4xf8E4M3FN>
  return %y : vector<4xf8E4M3FN>
}

// SC2: above 464 there is only NaN.

// CHECK-LABEL: func @SC2_nan(
// CHECK:         %[[X0:.*]] = vector.extract %{{.*}}[0]
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X0]] : f32 to i32
// CHECK:         %[[MASK:.*]] = arith.constant 2147483647 : i32
// CHECK:         %[[ABS:.*]] = arith.andi %[[BITS]], %[[MASK]]
// CHECK:         %[[MAGNITUDE:.*]] = arith.bitcast %[[ABS]] : i32 to f32
// CHECK:         %[[LIMIT:.*]] = arith.constant 4.640000e+02 : f32
// CHECK:         %[[OVER:.*]] = arith.cmpf ogt, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK:         %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:         %[[LOW:.*]] = arith.select %[[OVER]], %[[NAN]], %[[X0]]
// CHECK:         %[[HIGH:.*]] = arith.select
// CHECK:         nvvm.convert.f32x2.to.f8x2 %[[HIGH]], %[[LOW]]
func.func @SC2_nan(%x: vector<2xf32>) -> vector<2xf8E4M3FN> {
  %y = kv.cast %x : vector<2xf32> to vector<2xf8E4M3FN>
  return %y : vector<2xf8E4M3FN>
}

// SC2: from 61440 on there is infinity, whose bits follow those of the largest
// number.

// CHECK-LABEL: func @SC2_infinity(
// CHECK:         %[[LOW:.*]] = vector.extract %{{.*}}[0]
// CHECK:         %[[HIGH:.*]] = vector.extract %{{.*}}[1]
// CHECK:         %[[PAIR:.*]] = nvvm.convert.f32x2.to.f8x2 %[[HIGH]], %[[LOW]] {{.*}} : i16(f8E5M2)
// CHECK:         %[[LIMIT:.*]] = arith.constant 6.144000e+04 : f32
// CHECK:         %[[IS_LOW:.*]] = arith.cmpf oge, %{{.*}}, %[[LIMIT]]
// CHECK:         %[[ONE_LOW:.*]] = arith.constant 1 : i16
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : i16
// CHECK:         %[[ADD_LOW:.*]] = arith.select %[[IS_LOW]], %[[ONE_LOW]], %[[ZERO]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[PAIR]], %[[ADD_LOW]]
// CHECK:         %[[IS_HIGH:.*]] = arith.cmpf oge
// CHECK:         %[[ONE_HIGH:.*]] = arith.constant 256 : i16
// CHECK:         %[[ADD_HIGH:.*]] = arith.select %[[IS_HIGH]], %[[ONE_HIGH]]
// CHECK:         arith.addi %[[SUM]], %[[ADD_HIGH]]
func.func @SC2_infinity(%x: vector<2xf32>) -> vector<2xf8E5M2> {
  %y = kv.cast %x : vector<2xf32> to vector<2xf8E5M2>
  return %y : vector<2xf8E5M2>
}

// SC1: 16 bits are widened exactly, so that there is one rounding. An element
// without a neighbour is converted twice.

// CHECK-LABEL: func @SC1_odd(
// CHECK:         %[[WIDE:.*]] = kv.cast %{{.*}} : vector<3xf16> to vector<3xf32>
// CHECK-DAG:     %[[LAST:.*]] = vector.extract %[[WIDE]][2]
// CHECK:         nvvm.convert.f32x2.to.f8x2 %[[LAST]], %[[LAST]]
// CHECK:         %[[BYTES:.*]] = vector.bitcast %{{.*}} : vector<2xi16> to vector<4xi8>
// CHECK:         vector.shuffle %[[BYTES]], %[[BYTES]] [0, 1, 2] : vector<4xi8>, vector<4xi8>
func.func @SC1_odd(%x: vector<3xf16>) -> vector<3xf8E5M2> {
  %y = kv.cast %x : vector<3xf16> to vector<3xf8E5M2>
  return %y : vector<3xf8E5M2>
}

// CHECK-LABEL: func @scalar(
// CHECK:         %[[WIDE:.*]] = kv.cast %{{.*}} : vector<1xbf16> to vector<1xf32>
// CHECK:         nvvm.convert.f32x2.to.f8x2
// CHECK:         %[[Y:.*]] = vector.extract %{{.*}}[0] : f8E4M3FN from vector<1xf8E4M3FN>
// CHECK:         return %[[Y]] : f8E4M3FN
func.func @scalar(%x: bf16) -> f8E4M3FN {
  %y = kv.cast %x saturating : bf16 to f8E4M3FN
  return %y : f8E4M3FN
}

// The hardware has no other 8-bit types, and a narrower source is no overflow.

// CHECK-LABEL: func @others(
// CHECK-NOT:     nvvm
// CHECK:         kv.cast %{{.*}} : f32 to f8E4M3FNUZ
// CHECK:         kv.cast %{{.*}} : f8E5M2 to f8E4M3FN
// CHECK:         kv.cast %{{.*}} : f8E4M3FN to f32
// CHECK:         kv.cast %{{.*}} : f32 to bf16
func.func @others(%x: f32, %e5m2: f8E5M2, %e4m3: f8E4M3FN)
    -> (f8E4M3FNUZ, f8E4M3FN, f32, bf16) {
  %a = kv.cast %x : f32 to f8E4M3FNUZ
  %b = kv.cast %e5m2 : f8E5M2 to f8E4M3FN
  %c = kv.cast %e4m3 : f8E4M3FN to f32
  %d = kv.cast %x : f32 to bf16
  return %a, %b, %c, %d : f8E4M3FNUZ, f8E4M3FN, f32, bf16
}

// A bf16 is the upper half of an f32: no bytes are permuted to widen a pair of them,
// for a cast or for arithmetic in front of one.

// CHECK-LABEL: func @SC2_pairs(
// CHECK-SAME:    %[[X:.*]]: vector<4xbf16>)
// CHECK:         %[[WORDS:.*]] = vector.bitcast %[[X]] : vector<4xbf16> to vector<2xi32>
// CHECK:         %[[LOW:.*]] = arith.shli %[[WORDS]], %{{.*}}
// CHECK:         arith.constant dense<-65536> : vector<2xi32>
// CHECK:         %[[HIGH:.*]] = arith.andi %[[WORDS]], %{{.*}}
// CHECK:         %[[ALL:.*]] = vector.interleave %[[LOW]], %[[HIGH]] : vector<2xi32>
// CHECK:         %[[WIDE:.*]] = arith.bitcast %[[ALL]] : vector<4xi32> to vector<4xf32>
// CHECK:         %[[X0:.*]] = vector.extract %[[WIDE]][0]
func.func @SC2_pairs(%x: vector<4xbf16>) -> vector<4xf8E4M3FN> {
  %y = kv.cast %x saturating : vector<4xbf16> to vector<4xf8E4M3FN>
  return %y : vector<4xf8E4M3FN>
}

// CHECK-LABEL: func @scaled(
// CHECK-NOT:     arith.extf
// CHECK:         vector.interleave
// CHECK:         arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK-NOT:     arith.extf
// CHECK:         return
func.func @scaled(%x: vector<4xbf16>, %scale: vector<4xf32>) -> vector<4xf32> {
  %wide = arith.extf %x : vector<4xbf16> to vector<4xf32>
  %y = arith.mulf %wide, %scale : vector<4xf32>
  return %y : vector<4xf32>
}

// Others are left to LLVM.

// CHECK-LABEL: func @odd(
// CHECK-COUNT-2: arith.extf
func.func @odd(%x: vector<3xbf16>, %y: vector<2xf16>) -> (vector<3xf32>, vector<2xf32>) {
  %a = arith.extf %x : vector<3xbf16> to vector<3xf32>
  %b = arith.extf %y : vector<2xf16> to vector<2xf32>
  return %a, %b : vector<3xf32>, vector<2xf32>
}
