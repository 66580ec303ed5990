// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// Rows of narrow floats are scaled in 32 bits, by a Python scalar of 32 bits, and
// rounded to their type again. A quotient stays one.

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    %{{.+}}: tensor<5xi64>, %[[K:[^:]+]]: tensor<5x8xbf16>,
// CHECK:         %[[WIDE:.+]] = kv.cast %[[K]] : tensor<5x8xbf16> to tensor<5x8xf32>
// CHECK:         %[[SCALE:.+]] = arith.constant dense<1.000000e-01> : tensor<5x8xf32>
// CHECK:         %[[PRODUCT:.+]] = arith.mulf %[[WIDE]], %[[SCALE]] : tensor<5x8xf32>
// CHECK:         %[[ROUND:.+]] = kv.cast %[[PRODUCT]] : tensor<5x8xf32> to tensor<5x8xbf16>
// CHECK:         %[[WIDE1:.+]] = kv.cast %[[ROUND]] : tensor<5x8xbf16> to tensor<5x8xf32>
// CHECK:         %[[QUOTIENT:.+]] = arith.divf %[[WIDE1]], %{{.+}} : tensor<5x8xf32>
// CHECK:         %[[ROWS:.+]] = kv.cast %[[QUOTIENT]] : tensor<5x8xf32> to tensor<5x8xbf16>
// CHECK:         %[[BYTES:.+]] = kv.cast %[[ROWS]] saturating : tensor<5x8xbf16> to tensor<5x8xf8E4M3FN>
// CHECK:         %[[BITS:.+]] = arith.bitcast %[[BYTES]] : tensor<5x8xf8E4M3FN> to tensor<5x8xi8>
// CHECK:           put %[[BITS]] : tensor<5x8xi8>
// CHECK-NOT:     torch
func.func @scalars(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[24,8],ui8>) -> !torch.vtensor<[24,8],ui8> {
  %float1_000000e_01 = "torch.constant.float"() <{value = 1.000000e-01 : f64}> : () -> !torch.float
  %a = "torch.aten.mul.Scalar"(%k, %float1_000000e_01) : (!torch.vtensor<[5,8],bf16>, !torch.float) -> !torch.vtensor<[5,8],bf16>
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %b = "torch.aten.div.Scalar"(%a, %int3) : (!torch.vtensor<[5,8],bf16>, !torch.int) -> !torch.vtensor<[5,8],bf16>
  %int24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %c = "torch.prims.convert_element_type"(%b, %int24) : (!torch.vtensor<[5,8],bf16>, !torch.int) -> !torch.vtensor<[5,8],f8E4M3FN>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %d = "torch.aten.view.dtype"(%c, %int0) : (!torch.vtensor<[5,8],f8E4M3FN>, !torch.int) -> !torch.vtensor<[5,8],ui8>
  %e = "torch.aten.detach"(%d) : (!torch.vtensor<[5,8],ui8>) -> !torch.vtensor<[5,8],ui8>
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %e, %false) : (!torch.vtensor<[24,8],ui8>, !torch.list<vtensor>, !torch.vtensor<[5,8],ui8>, !torch.bool) -> !torch.vtensor<[24,8],ui8>
  return %0 : !torch.vtensor<[24,8],ui8>
}

// -----

// A scale that is a tensor of one element, in the type that torch promotes to.

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    %{{.+}}: tensor<5xi64>, %[[K:[^:]+]]: tensor<?x8xbf16>, %[[SCALE:[^:]+]]: tensor<1xf32>, %[[SCALAR:[^:]+]]: tensor<f32>,
// CHECK:         %[[WIDE:.+]] = kv.cast %[[K]] : tensor<?x8xbf16> to tensor<?x8xf32>
// CHECK:         %[[S:.+]] = tensor.extract %[[SCALE]][%{{.+}}] : tensor<1xf32>
// CHECK:         %[[SCALES:.+]] = tensor.splat %[[S]][%{{.+}}] : tensor<?x8xf32>
// CHECK:         %[[A:.+]] = arith.divf %[[WIDE]], %[[SCALES]] : tensor<?x8xf32>
// CHECK:         %[[T:.+]] = tensor.extract %[[SCALAR]][] : tensor<f32>
// CHECK:         %[[SCALARS:.+]] = tensor.splat %[[T]][%{{.+}}] : tensor<?x8xf32>
// CHECK:         %[[B:.+]] = arith.mulf %[[A]], %[[SCALARS]] : tensor<?x8xf32>
// CHECK:         kv.cast %[[B]] : tensor<?x8xf32> to tensor<?x8xbf16>
// CHECK-NOT:     torch
func.func @tensors(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[?,8],bf16>, %scale: !torch.vtensor<[1],f32>, %scalar: !torch.vtensor<[],f32>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %a = "torch.aten.div.Tensor"(%k, %scale) : (!torch.vtensor<[?,8],bf16>, !torch.vtensor<[1],f32>) -> !torch.vtensor<[?,8],f32>
  %b = "torch.aten.mul.Tensor"(%a, %scalar) : (!torch.vtensor<[?,8],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[?,8],f32>
  %int15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %c = "torch.prims.convert_element_type"(%b, %int15) : (!torch.vtensor<[?,8],f32>, !torch.int) -> !torch.vtensor<[?,8],bf16>
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %c, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// Clamps keep NaN. A bound is rounded to the type of the rows.

// CHECK-LABEL: func.func @clamp(
// CHECK-SAME:    %{{.+}}: tensor<5xi64>, %[[K:[^:]+]]: tensor<5x8xbf16>,
// CHECK:         %[[LOW:.+]] = arith.constant dense<-4.480000e+02> : tensor<5x8xbf16>
// CHECK:         %[[A:.+]] = arith.maximumf %[[K]], %[[LOW]]
// CHECK:         %[[HIGH:.+]] = arith.constant dense<1.000980e-01> : tensor<5x8xbf16>
// CHECK:         %[[B:.+]] = arith.minimumf %[[A]], %[[HIGH]]
// CHECK:         %[[C:.+]] = arith.negf %[[B]]
// CHECK:         %[[D:.+]] = arith.minimumf %[[C]], %{{.+}}
// CHECK:         %[[E:.+]] = arith.maximumf %[[D]], %{{.+}}
// CHECK:           put %[[E]]
// CHECK-NOT:     torch
func.func @clamp(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int_448 = "torch.constant.int"() <{value = -448 : i64}> : () -> !torch.int
  %float1_000000e_01 = "torch.constant.float"() <{value = 1.000000e-01 : f64}> : () -> !torch.float
  %a = "torch.aten.clamp"(%k, %int_448, %float1_000000e_01) : (!torch.vtensor<[5,8],bf16>, !torch.int, !torch.float) -> !torch.vtensor<[5,8],bf16>
  %b = "torch.aten.neg"(%a) : (!torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[5,8],bf16>
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c = "torch.aten.clamp_max"(%b, %int2) : (!torch.vtensor<[5,8],bf16>, !torch.int) -> !torch.vtensor<[5,8],bf16>
  %float_1_000000e_00 = "torch.constant.float"() <{value = -1.000000e+00 : f64}> : () -> !torch.float
  %none = "torch.constant.none"() : () -> !torch.none
  %d = "torch.aten.clamp"(%c, %float_1_000000e_00, %none) : (!torch.vtensor<[5,8],bf16>, !torch.float, !torch.none) -> !torch.vtensor<[5,8],bf16>
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %d, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// Rows from packed projections, heads merged, and a part of them. Dimensions of
// size 1 are left out by a slice, which copies nothing whatever the strides are.

// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %{{.+}}: tensor<5xi64>, %[[X:[^:]+]]: tensor<?x24xf32>, %[[Y:[^:]+]]: tensor<6x1x3x8xbf16>,
// CHECK:         %[[SPLIT:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.+}}, 3, 8] : tensor<?x24xf32> into tensor<?x3x8xf32>
// CHECK:         %[[CAST:.+]] = kv.cast %[[SPLIT]] : tensor<?x3x8xf32> to tensor<?x3x8xbf16>
// CHECK:           put %[[CAST]] : tensor<?x3x8xbf16>
// CHECK:         %[[DROP:.+]] = tensor.extract_slice %[[Y]][0, 0, 0, 0] [6, 1, 3, 8] [1, 1, 1, 1] : tensor<6x1x3x8xbf16> to tensor<6x3x8xbf16>
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[DROP]][0, 0, 0] [5, 3, 8] [1, 1, 1] : tensor<6x3x8xbf16> to tensor<5x3x8xbf16>
// CHECK:         %[[MERGE:.+]] = tensor.collapse_shape %[[PART]] {{\[\[}}0], [1, 2]] : tensor<5x3x8xbf16> into tensor<5x24xbf16>
// CHECK:           put %[[MERGE]] : tensor<5x24xbf16>
// CHECK-NOT:     torch
func.func @views(%slots: !torch.vtensor<[5],si64>, %x: !torch.vtensor<[?,24],f32>, %y: !torch.vtensor<[6,1,3,8],bf16>, %cache: !torch.vtensor<[24,3,8],bf16>, %flat: !torch.vtensor<[24,24],bf16>) -> (!torch.vtensor<[24,3,8],bf16>, !torch.vtensor<[24,24],bf16>) {
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %int8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %list = "torch.prim.ListConstruct"(%int_1, %int3, %int8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %split = "torch.aten.view"(%x, %list) : (!torch.vtensor<[?,24],f32>, !torch.list<int>) -> !torch.vtensor<[?,3,8],f32>
  %int15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %none = "torch.constant.none"() : () -> !torch.none
  %cast = "torch.aten.to.dtype"(%split, %int15, %false, %false, %none) : (!torch.vtensor<[?,3,8],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,3,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list1, %cast, %false) : (!torch.vtensor<[24,3,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,3,8],bf16>, !torch.bool) -> !torch.vtensor<[24,3,8],bf16>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %drop = "torch.aten.squeeze.dim"(%y, %int1) : (!torch.vtensor<[6,1,3,8],bf16>, !torch.int) -> !torch.vtensor<[6,3,8],bf16>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %int5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %part = "torch.aten.slice.Tensor"(%drop, %int0, %int0, %int5, %int1) : (!torch.vtensor<[6,3,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[5,3,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%int5, %int_1) : (!torch.int, !torch.int) -> !torch.list<int>
  %merge = "torch.aten.reshape"(%part, %list2) : (!torch.vtensor<[5,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[5,24],bf16>
  %list3 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%flat, %list3, %merge, %false) : (!torch.vtensor<[24,24],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,24],bf16>, !torch.bool) -> !torch.vtensor<[24,24],bf16>
  return %0, %1 : !torch.vtensor<[24,3,8],bf16>, !torch.vtensor<[24,24],bf16>
}

// -----

// What stays in torch: numbers as bytes, which is no fp8 cast (I11); bytes of a
// wider type; a bound that is zero, whose sign depends on the device; a scalar
// tensor of another type, which is rounded on some devices; per-head scales.

// CHECK-LABEL: func.func @roots(
// CHECK-NOT:     arith.
// CHECK-NOT:     kv.cast
// CHECK:         %[[NUMBERS:.+]] = "torch.prims.convert_element_type"
// CHECK-NEXT:    %[[A:.+]] = "torch_c.to_builtin_tensor"(%[[NUMBERS]])
// CHECK:           put %[[A]] : tensor<5x8xi8>
// CHECK:         %[[BYTES:.+]] = "torch.aten.view.dtype"
// CHECK-NEXT:    %[[B:.+]] = "torch_c.to_builtin_tensor"(%[[BYTES]])
// CHECK:           put %[[B]] : tensor<5x8xi8>
// CHECK:         %[[RELU:.+]] = "torch.aten.clamp_min"
// CHECK-NEXT:    %[[C:.+]] = "torch_c.to_builtin_tensor"(%[[RELU]])
// CHECK:           put %[[C]] : tensor<5x8xbf16>
// CHECK:         %[[ROUNDED:.+]] = "torch.aten.mul.Tensor"
// CHECK-NEXT:    %[[D:.+]] = "torch_c.to_builtin_tensor"(%[[ROUNDED]])
// CHECK:           put %[[D]] : tensor<5x8xbf16>
// CHECK:         %[[HEADS:.+]] = "torch.aten.div.Tensor"
// CHECK-NEXT:    %[[E:.+]] = "torch_c.to_builtin_tensor"(%[[HEADS]])
// CHECK:           put %[[E]] : tensor<5x8xbf16>
func.func @roots(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],bf16>, %f: !torch.vtensor<[5,2],f32>, %scale: !torch.vtensor<[],f32>, %heads: !torch.vtensor<[1,8],bf16>, %bytes: !torch.vtensor<[24,8],ui8>, %cache: !torch.vtensor<[24,8],bf16>) -> (!torch.vtensor<[24,8],ui8>, !torch.vtensor<[24,8],bf16>) {
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %a = "torch.prims.convert_element_type"(%k, %int0) : (!torch.vtensor<[5,8],bf16>, !torch.int) -> !torch.vtensor<[5,8],ui8>
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%bytes, %list, %a, %false) : (!torch.vtensor<[24,8],ui8>, !torch.list<vtensor>, !torch.vtensor<[5,8],ui8>, !torch.bool) -> !torch.vtensor<[24,8],ui8>
  %b = "torch.aten.view.dtype"(%f, %int0) : (!torch.vtensor<[5,2],f32>, !torch.int) -> !torch.vtensor<[5,8],ui8>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%0, %list1, %b, %false) : (!torch.vtensor<[24,8],ui8>, !torch.list<vtensor>, !torch.vtensor<[5,8],ui8>, !torch.bool) -> !torch.vtensor<[24,8],ui8>
  %c = "torch.aten.clamp_min"(%k, %int0) : (!torch.vtensor<[5,8],bf16>, !torch.int) -> !torch.vtensor<[5,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %2 = "torch.aten.index_put"(%cache, %list2, %c, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  %d = "torch.aten.mul.Tensor"(%k, %scale) : (!torch.vtensor<[5,8],bf16>, !torch.vtensor<[],f32>) -> !torch.vtensor<[5,8],bf16>
  %list3 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %3 = "torch.aten.index_put"(%2, %list3, %d, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  %e = "torch.aten.div.Tensor"(%k, %heads) : (!torch.vtensor<[5,8],bf16>, !torch.vtensor<[1,8],bf16>) -> !torch.vtensor<[5,8],bf16>
  %list4 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %4 = "torch.aten.index_put"(%3, %list4, %e, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %1, %4 : !torch.vtensor<[24,8],ui8>, !torch.vtensor<[24,8],bf16>
}
