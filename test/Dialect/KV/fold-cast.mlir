// SC1 to SC3: what kv.cast does to constants. The folder says what the operation
// means; test/python/test_cast_folder.py compares it with ml_dtypes for every
// 16-bit input. Stored bits are shown as signed bytes.
// RUN: kvfuse-opt %s --canonicalize | FileCheck %s

// SC2, float8_e4m3fn: 464 ties to 448 (0x7E), what lies above is NaN (0x7F, 0xFF),
// infinities, too.
// CHECK-LABEL: func.func @e4m3fn
// CHECK:         dense<[0, -128, 126, 126, 127, 127, -1, 127, -1, 127, -1]> : tensor<11xi8>
func.func @e4m3fn() -> tensor<11xi8> {
  %0 = arith.constant dense<[0.0, -0.0, 448.0, 464.0, 465.0, 1000.0, -1000.0,
                             0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000]> : tensor<11xf32>
  %1 = kv.cast %0 : tensor<11xf32> to tensor<11xf8E4M3FN>
  %2 = arith.bitcast %1 : tensor<11xf8E4M3FN> to tensor<11xi8>
  return %2 : tensor<11xi8>
}

// SC3: overflow and infinities become 448 (0x7E, 0xFE), NaN stays NaN.
// CHECK-LABEL: func.func @e4m3fn_saturating
// CHECK:         dense<[0, -128, 126, 126, 126, 126, -2, 126, -2, 127, -1]> : tensor<11xi8>
func.func @e4m3fn_saturating() -> tensor<11xi8> {
  %0 = arith.constant dense<[0.0, -0.0, 448.0, 464.0, 465.0, 1000.0, -1000.0,
                             0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000]> : tensor<11xf32>
  %1 = kv.cast %0 saturating : tensor<11xf32> to tensor<11xf8E4M3FN>
  %2 = arith.bitcast %1 : tensor<11xf8E4M3FN> to tensor<11xi8>
  return %2 : tensor<11xi8>
}

// SC2, float8_e5m2: the largest is 57344 (0x7B), and from 61440 up there is
// infinity (0x7C, 0xFC).
// CHECK-LABEL: func.func @e5m2
// CHECK:         dense<[123, 123, 124, 124, -4, 124, -4, 126]> : tensor<8xi8>
func.func @e5m2() -> tensor<8xi8> {
  %0 = arith.constant dense<[57344.0, 61439.0, 61440.0, 65536.0, -65536.0,
                             0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<8xf32>
  %1 = kv.cast %0 : tensor<8xf32> to tensor<8xf8E5M2>
  %2 = arith.bitcast %1 : tensor<8xf8E5M2> to tensor<8xi8>
  return %2 : tensor<8xi8>
}

// fnuz types have one zero and one NaN (0x80), which is also what overflows; the
// largest float8_e4m3fnuz is 240 (0x7F), and 248 ties upwards.
// CHECK-LABEL: func.func @e4m3fnuz
// CHECK:         dense<[0, 0, 0, 127, 127, -128, -128, -128, -128, -128]> : tensor<10xi8>
func.func @e4m3fnuz() -> tensor<10xi8> {
  %0 = arith.constant dense<[0.0, -0.0, -1.0e-10, 240.0, 247.0, 248.0, -1000.0,
                             0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<10xf32>
  %1 = kv.cast %0 : tensor<10xf32> to tensor<10xf8E4M3FNUZ>
  %2 = arith.bitcast %1 : tensor<10xf8E4M3FNUZ> to tensor<10xi8>
  return %2 : tensor<10xi8>
}

// CHECK-LABEL: func.func @e4m3fnuz_saturating
// CHECK:         dense<[0, 0, 0, 127, 127, 127, -1, 127, -1, -128]> : tensor<10xi8>
func.func @e4m3fnuz_saturating() -> tensor<10xi8> {
  %0 = arith.constant dense<[0.0, -0.0, -1.0e-10, 240.0, 247.0, 248.0, -1000.0,
                             0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<10xf32>
  %1 = kv.cast %0 saturating : tensor<10xf32> to tensor<10xf8E4M3FNUZ>
  %2 = arith.bitcast %1 : tensor<10xf8E4M3FNUZ> to tensor<10xi8>
  return %2 : tensor<10xi8>
}

// CHECK-LABEL: func.func @e5m2fnuz
// CHECK:         dense<[0, 127, -128, -128]> : tensor<4xi8>
// CHECK:         dense<[0, 127, 127, -1]> : tensor<4xi8>
func.func @e5m2fnuz() -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = arith.constant dense<[-0.0, 57344.0, 61440.0, 0xFF800000]> : tensor<4xf32>
  %1 = kv.cast %0 : tensor<4xf32> to tensor<4xf8E5M2FNUZ>
  %2 = arith.bitcast %1 : tensor<4xf8E5M2FNUZ> to tensor<4xi8>
  %3 = kv.cast %0 saturating : tensor<4xf32> to tensor<4xf8E5M2FNUZ>
  %4 = arith.bitcast %3 : tensor<4xf8E5M2FNUZ> to tensor<4xi8>
  return %2, %4 : tensor<4xi8>, tensor<4xi8>
}

// SC1: nearest even in steps of 2 (between 16 and 32 in float8_e4m3fn), also for
// what is smaller than the smallest normal number; one rounding: 17 and a bit goes up,
// where a rounding to bf16 before it would make it a tie.
// CHECK-LABEL: func.func @nearest_even
// CHECK:         dense<[88, 90, 89, 0, 2, 1]> : tensor<6xi8>
func.func @nearest_even() -> tensor<6xi8> {
  %0 = arith.constant dense<[17.0, 19.0, 17.0001, 9.765625e-04, 2.9296875e-03, 9.7656262e-04]> : tensor<6xf32>
  %1 = kv.cast %0 : tensor<6xf32> to tensor<6xf8E4M3FN>
  %2 = arith.bitcast %1 : tensor<6xf8E4M3FN> to tensor<6xi8>
  return %2 : tensor<6xi8>
}

// Scalars, splats and vectors, narrowing and widening.
// CHECK-LABEL: func.func @shapes
// CHECK-DAG:     arith.constant 4.480000e+02 : f8E4M3FN
// CHECK-DAG:     arith.constant dense<4.480000e+02> : tensor<2x3xf8E4M3FN>
// CHECK-DAG:     arith.constant dense<[1.000000e+00, 1.500000e+00]> : vector<2xf32>
// CHECK-NOT:     kv.cast
func.func @shapes() -> (f8E4M3FN, tensor<2x3xf8E4M3FN>, vector<2xf32>) {
  %s = arith.constant 1000.0 : bf16
  %0 = kv.cast %s saturating : bf16 to f8E4M3FN
  %t = arith.constant dense<464.0> : tensor<2x3xf16>
  %1 = kv.cast %t : tensor<2x3xf16> to tensor<2x3xf8E4M3FN>
  %v = arith.constant dense<[1.0, 1.5]> : vector<2xf8E5M2>
  %2 = kv.cast %v : vector<2xf8E5M2> to vector<2xf32>
  return %0, %1, %2 : f8E4M3FN, tensor<2x3xf8E4M3FN>, vector<2xf32>
}

// A cast to the own type is nothing, saturating or not: what may saturate has no
// infinity.
// CHECK-LABEL: func.func @same_type
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xf8E4M3FN>, %[[B:[^:]*]]: f8E5M2
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @same_type(%a: tensor<?xf8E4M3FN>, %b: f8E5M2) -> (tensor<?xf8E4M3FN>, f8E5M2) {
  %0 = kv.cast %a saturating : tensor<?xf8E4M3FN> to tensor<?xf8E4M3FN>
  %1 = kv.cast %b : f8E5M2 to f8E5M2
  return %0, %1 : tensor<?xf8E4M3FN>, f8E5M2
}
