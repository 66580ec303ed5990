// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(func.func(kv-expand-casts))' | FileCheck %s

// With equal exponents, the mantissa is rounded and the rest follows: no
// subnormal path, and overflow becomes infinity by the carry. Only NaNs need
// care.

// CHECK-LABEL: func @SC1_f32_to_bf16(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-DAG:     %[[MAGNITUDE_MASK:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[BELOW_HALF:.*]] = arith.constant 32767 : i32
// CHECK-DAG:     %[[INFINITY:.*]] = arith.constant 2139095040 : i32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 32704 : i32
// CHECK-DAG:     %[[SIGN_BIT:.*]] = arith.constant 32768 : i32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK:         %[[MAGNITUDE:.*]] = arith.andi %[[BITS]], %[[MAGNITUDE_MASK]]
// CHECK:         %[[Q:.*]] = arith.shrui %[[MAGNITUDE]], %[[C16]]
// CHECK:         %[[ODD:.*]] = arith.andi %[[Q]], %[[C1]]
// CHECK:         %[[BIAS:.*]] = arith.addi %[[ODD]], %[[BELOW_HALF]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[MAGNITUDE]], %[[BIAS]]
// CHECK:         %[[ROUNDED:.*]] = arith.shrui %[[SUM]], %[[C16]]
// CHECK:         %[[IS_NAN:.*]] = arith.cmpi ugt, %[[MAGNITUDE]], %[[INFINITY]]
// CHECK:         %[[RESULT:.*]] = arith.select %[[IS_NAN]], %[[NAN]], %[[ROUNDED]]
// CHECK:         %[[HIGH:.*]] = arith.shrui %[[BITS]], %[[C16]]
// CHECK:         %[[SIGN:.*]] = arith.andi %[[HIGH]], %[[SIGN_BIT]]
// CHECK:         %[[SIGNED:.*]] = arith.ori %[[RESULT]], %[[SIGN]]
// CHECK:         %[[NARROW:.*]] = arith.trunci %[[SIGNED]] : i32 to i16
// CHECK:         %[[Y:.*]] = arith.bitcast %[[NARROW]] : i16 to bf16
// CHECK:         return %[[Y]] : bf16
func.func @SC1_f32_to_bf16(%x: f32) -> bf16 {
  %y = kv.cast %x : f32 to bf16
  return %y : bf16
}

// CHECK-LABEL: func @f16_to_f8E5M2(
// CHECK-NOT:     arith.maxsi
// CHECK-NOT:     arith.minui
// CHECK:         arith.bitcast %{{.*}} : i8 to f8E5M2
func.func @f16_to_f8E5M2(%x: f16) -> f8E5M2 {
  %y = kv.cast %x : f16 to f8E5M2
  return %y : f8E5M2
}

// CHECK-LABEL: func @bf16_to_f32(
// CHECK-SAME:    %[[X:.*]]: bf16)
// CHECK-NEXT:    %[[C16:.*]] = arith.constant 16 : i32
// CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %[[X]] : bf16 to i16
// CHECK-NEXT:    %[[LOW:.*]] = arith.extui %[[BITS]] : i16 to i32
// CHECK-NEXT:    %[[HIGH:.*]] = arith.shli %[[LOW]], %[[C16]] : i32
// CHECK-NEXT:    %[[Y:.*]] = arith.bitcast %[[HIGH]] : i32 to f32
// CHECK-NEXT:    return %[[Y]] : f32
func.func @bf16_to_f32(%x: bf16) -> f32 {
  %y = kv.cast %x : bf16 to f32
  return %y : f32
}

// Subnormal results shift by more than normal ones, up to 31. What rounds past
// 448 (0x7e) becomes NaN (0x7f), as infinity and NaNs do.

// CHECK-LABEL: func @SC2_bf16_to_f8E4M3FN(
// CHECK-DAG:     %[[C31:.*]] = arith.constant 31 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG:     %[[C124:.*]] = arith.constant 124 : i32
// CHECK-DAG:     %[[C125:.*]] = arith.constant 125 : i32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 127 : i32
// CHECK:         %[[MAGNITUDE:.*]] = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK:         %[[EXPONENT:.*]] = arith.shrui %[[MAGNITUDE]], %[[C7]]
// CHECK:         %[[DEPTH:.*]] = arith.subi %[[C125]], %[[EXPONENT]]
// CHECK:         %[[SHIFT:.*]] = arith.maxsi %[[DEPTH]], %[[C4]]
// CHECK:         %[[CHANGE:.*]] = arith.subi %[[SHIFT]], %[[C124]]
// CHECK:         %[[CHANGE_BITS:.*]] = arith.shli %[[CHANGE]], %[[C7]]
// CHECK:         %[[REBIASED:.*]] = arith.addi %[[MAGNITUDE]], %[[CHANGE_BITS]]
// CHECK:         %[[SHORT:.*]] = arith.minui %[[SHIFT]], %[[C31]]
// CHECK:         %[[ROUNDED:.*]] = arith.shrui %{{.*}}, %[[SHORT]]
// CHECK:         arith.shrui
// CHECK:         %[[ROUNDED:.*]] = arith.shrui %{{.*}}, %[[SHORT]]
// CHECK:         %[[LIMITED:.*]] = arith.minui %[[ROUNDED]], %[[NAN]]
// CHECK-NOT:     arith.select
// CHECK:         arith.ori %[[LIMITED]], %{{.*}}
// CHECK:         arith.bitcast %{{.*}} : i8 to f8E4M3FN
func.func @SC2_bf16_to_f8E4M3FN(%x: bf16) -> f8E4M3FN {
  %y = kv.cast %x : bf16 to f8E4M3FN
  return %y : f8E4M3FN
}

// CHECK-LABEL: func @SC3_bf16_to_f8E4M3FN(
// CHECK-DAG:     %[[LARGEST:.*]] = arith.constant 126 : i32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 127 : i32
// CHECK-DAG:     %[[INFINITY:.*]] = arith.constant 32640 : i32
// CHECK:         %[[LIMITED:.*]] = arith.minui %{{.*}}, %[[LARGEST]]
// CHECK:         %[[IS_NAN:.*]] = arith.cmpi ugt, %{{.*}}, %[[INFINITY]]
// CHECK:         %[[RESULT:.*]] = arith.select %[[IS_NAN]], %[[NAN]], %[[LIMITED]]
// CHECK:         arith.ori %[[RESULT]], %{{.*}}
func.func @SC3_bf16_to_f8E4M3FN(%x: bf16) -> f8E4M3FN {
  %y = kv.cast %x saturating : bf16 to f8E4M3FN
  return %y : f8E4M3FN
}

// No shift is longer than 16 here, so none needs the limit of 31.

// CHECK-LABEL: func @f16_to_f8E4M3FN(
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 127 : i32
// CHECK:         arith.maxsi
// CHECK-NOT:     arith.minui
// CHECK:         arith.minui %{{.*}}, %[[NAN]]
// CHECK-NOT:     arith.minui
// CHECK:         return
func.func @f16_to_f8E4M3FN(%x: f16) -> f8E4M3FN {
  %y = kv.cast %x : f16 to f8E4M3FN
  return %y : f8E4M3FN
}

// NaN is the bits of -0 (0x80), so a zero loses its sign.

// CHECK-LABEL: func @f32_to_f8E4M3FNUZ(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 128 : i32
// CHECK:         %[[LIMITED:.*]] = arith.minui %{{.*}}, %[[NAN]]
// CHECK:         %[[SIGN:.*]] = arith.andi %{{.*}}, %[[NAN]]
// CHECK:         %[[IS_ZERO:.*]] = arith.cmpi eq, %[[LIMITED]], %[[C0]]
// CHECK:         %[[SIGN2:.*]] = arith.select %[[IS_ZERO]], %[[LIMITED]], %[[SIGN]]
// CHECK:         arith.ori %[[LIMITED]], %[[SIGN2]]
func.func @f32_to_f8E4M3FNUZ(%x: f32) -> f8E4M3FNUZ {
  %y = kv.cast %x : f32 to f8E4M3FNUZ
  return %y : f8E4M3FNUZ
}

// Subnormals of the source are normalized in steps of two and one.

// CHECK-LABEL: func @f8E4M3FN_to_bf16(
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : i32
// CHECK-DAG:     %[[REBIAS:.*]] = arith.constant 15360 : i32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 32704 : i32
// CHECK-DAG:     %[[LARGEST:.*]] = arith.constant 126 : i32
// CHECK:         %[[NORMAL:.*]] = arith.addi %{{.*}}, %[[REBIAS]]
// CHECK:         %[[IS_SUBNORMAL:.*]] = arith.cmpi ult, %{{.*}}, %[[C8]]
// CHECK-COUNT-2: arith.cmpi ult
// CHECK:         arith.select %[[IS_SUBNORMAL]], %{{.*}}, %[[NORMAL]]
// CHECK:         %[[IS_NAN:.*]] = arith.cmpi ugt, %{{.*}}, %[[LARGEST]]
// CHECK:         arith.select %[[IS_NAN]], %[[NAN]], %{{.*}}
func.func @f8E4M3FN_to_bf16(%x: f8E4M3FN) -> bf16 {
  %y = kv.cast %x : f8E4M3FN to bf16
  return %y : bf16
}

// Neither holds the other's values: by way of the bits of an f32.

// CHECK-LABEL: func @f16_to_bf16(
// CHECK-COUNT-4: arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK:         arith.trunci %{{.*}} : i32 to i16
// CHECK:         arith.bitcast %{{.*}} : i16 to bf16
func.func @f16_to_bf16(%x: f16) -> bf16 {
  %y = kv.cast %x : f16 to bf16
  return %y : bf16
}

// CHECK-LABEL: func @same_type(
// CHECK-SAME:    %[[X:.*]]: bf16)
// CHECK-NEXT:    return %[[X]]
func.func @same_type(%x: bf16) -> bf16 {
  %y = kv.cast %x : bf16 to bf16
  return %y : bf16
}

// CHECK-LABEL: func @constant(
// CHECK-NEXT:    %[[Y:.*]] = arith.constant 1.500000e+00 : bf16
// CHECK-NEXT:    return %[[Y]]
func.func @constant() -> bf16 {
  %x = arith.constant 1.5 : f32
  %y = kv.cast %x : f32 to bf16
  return %y : bf16
}

// Vectors, element for element. arith.extf and arith.truncf too.

// CHECK-LABEL: func @vectors(
// CHECK-SAME:    %[[X:.*]]: vector<8xbf16>)
// CHECK:         %[[C16:.*]] = arith.constant dense<16> : vector<8xi32>
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : vector<8xbf16> to vector<8xi16>
// CHECK:         %[[LOW:.*]] = arith.extui %[[BITS]] : vector<8xi16> to vector<8xi32>
// CHECK:         %[[HIGH:.*]] = arith.shli %[[LOW]], %[[C16]] : vector<8xi32>
// CHECK:         %[[WIDE:.*]] = arith.bitcast %[[HIGH]] : vector<8xi32> to vector<8xf32>
// CHECK:         arith.addf %[[WIDE]], %[[WIDE]] : vector<8xf32>
// CHECK:         arith.trunci %{{.*}} : vector<8xi32> to vector<8xi8>
// CHECK:         %[[Y:.*]] = arith.bitcast %{{.*}} : vector<8xi8> to vector<8xf8E4M3FN>
// CHECK:         return %[[Y]]
func.func @vectors(%x: vector<8xbf16>) -> vector<8xf8E4M3FN> {
  %wide = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %sum = arith.addf %wide, %wide : vector<8xf32>
  %y = arith.truncf %sum : vector<8xf32> to vector<8xf8E4M3FN>
  return %y : vector<8xf8E4M3FN>
}

// CHECK-LABEL: func @rounding(
// CHECK-NOT:     arith.truncf
// CHECK:         return %{{.*}} : vector<4xbf16>
func.func @rounding(%x: vector<4xf32>) -> vector<4xbf16> {
  %y = arith.truncf %x toward_zero : vector<4xf32> to vector<4xbf16>
  return %y : vector<4xbf16>
}
