// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// SX8: separated indices put the tokens first in the values, also where there
// are as many tokens as heads.

// CHECK: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2, d4)>
// CHECK-LABEL: func.func @sx8_separated(
// CHECK-SAME:    %[[CACHE:[^:]+]]: tensor<8x4x32x16xbf16> {bufferization.writable = false}
// CHECK-SAME:    %[[PAGE:[^:]+]]: tensor<4xi64>, %[[OFFSET:[^:]+]]: tensor<4xi64>, %[[ROWS:[^:]+]]: tensor<4x4x16xbf16>) -> tensor<8x4x32x16xbf16>
// CHECK-NEXT:    %[[NEW:.+]] = kv.write at(%[[PAGE]], %[[OFFSET]] : tensor<4xi64>, tensor<4xi64>) negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put %[[ROWS]] : tensor<4x4x16xbf16> into %[[CACHE]] : tensor<8x4x32x16xbf16> map(#[[$MAP]]){{$}}
// CHECK-NEXT:    return %[[NEW]]
func.func @sx8_separated(%cache: !torch.vtensor<[8,4,32,16],bf16>, %page: !torch.vtensor<[4],si64>, %offset: !torch.vtensor<[4],si64>, %rows: !torch.vtensor<[4,4,16],bf16>) -> !torch.vtensor<[8,4,32,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[4],si64>, !torch.none, !torch.vtensor<[4],si64>) -> !torch.list<optional<vtensor>>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,4,32,16],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[4,4,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,32,16],bf16>
  return %0 : !torch.vtensor<[8,4,32,16],bf16>
}

// -----

// SX8: adjacent indices leave the tokens where the first index stands.

// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d2, d4)>
// CHECK-DAG: #[[$ORDER:.+]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @sx8_adjacent(
// CHECK:         put %{{.+}} : tensor<4x4x16xbf16> into %{{.+}} : tensor<4x8x32x16xbf16> map(#[[$MAP]]) order(#[[$ORDER]])
func.func @sx8_adjacent(%cache: !torch.vtensor<[4,8,32,16],bf16>, %page: !torch.vtensor<[4],si64>, %offset: !torch.vtensor<[4],si64>, %rows: !torch.vtensor<[4,4,16],bf16>) -> !torch.vtensor<[4,8,32,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%none, %page, %offset) : (!torch.none, !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>) -> !torch.list<optional<vtensor>>
  %0 = "torch.aten._unsafe_index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[4,8,32,16],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[4,4,16],bf16>, !torch.bool) -> !torch.vtensor<[4,8,32,16],bf16>
  return %0 : !torch.vtensor<[4,8,32,16],bf16>
}

// -----

// A static cache of [N, H, S, D] on dimension 2, in the spelling of a generic
// operator.

// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d1, d4)>
// CHECK-DAG: #[[$ORDER:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d0, d3)>
// CHECK-LABEL: func.func @position(
// CHECK:         put %{{.+}} : tensor<1x4x?x16xbf16> into %{{.+}} : tensor<1x4x64x16xbf16> map(#[[$MAP]]) order(#[[$ORDER]])
func.func @position(%cache: !torch.vtensor<[1,4,64,16],bf16>, %position: !torch.vtensor<[?],si64>, %rows: !torch.vtensor<[1,4,?,16],bf16>) -> !torch.vtensor<[1,4,64,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%none, %none, %position) : (!torch.none, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %0 = "torch.operator"(%cache, %list, %rows, %false, %false) <{name = "torch.aten._index_put_impl"}> : (!torch.vtensor<[1,4,64,16],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[1,4,?,16],bf16>, !torch.bool, !torch.bool) -> !torch.vtensor<[1,4,64,16],bf16>
  return %0 : !torch.vtensor<[1,4,64,16],bf16>
}

// -----

// A grid of rank 2.

// CHECK: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>
// CHECK-LABEL: func.func @grid(
// CHECK:         kv.write at(%{{.+}}, %{{.+}} : tensor<2x?xi64>, tensor<2x?xi32>)
// CHECK-NEXT:      put %{{.+}} : tensor<2x?x16xf16> into %{{.+}} : tensor<8x32x16xf16> map(#[[$MAP]]){{$}}
func.func @grid(%cache: !torch.vtensor<[8,32,16],f16>, %page: !torch.vtensor<[2,?],si64>, %offset: !torch.vtensor<[2,?],si32>, %rows: !torch.vtensor<[2,?,16],f16>) -> !torch.vtensor<[8,32,16],f16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[2,?],si64>, !torch.vtensor<[2,?],si32>) -> !torch.list<vtensor>
  %0 = "torch.aten._unsafe_index_put.hacked_twin"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,32,16],f16>, !torch.list<vtensor>, !torch.vtensor<[2,?,16],f16>, !torch.bool) -> !torch.vtensor<[8,32,16],f16>
  return %0 : !torch.vtensor<[8,32,16],f16>
}

// -----

// SX10: values that torch repeats: for every token, for every head, and one
// element for all.

// CHECK-DAG: #[[$TOKENS:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$HEADS:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$ALL:.+]] = affine_map<(d0, d1, d2) -> ()>
// CHECK-LABEL: func.func @sx10_broadcast(
// CHECK-SAME:    %[[HEAD:[^:]+]]: tensor<?x1x16xbf16>, %[[ONE:[^:]+]]: tensor<1x1xbf16>)
// CHECK:         put %{{.+}} : tensor<4x16xbf16> into %{{.+}} : tensor<?x4x16xbf16> map(#{{.+}}) order(#[[$TOKENS]])
// CHECK:         %[[ROW:.+]] = tensor.collapse_shape %[[HEAD]]
// CHECK-SAME:      tensor<?x1x16xbf16> into tensor<?x16xbf16>
// CHECK:         put %[[ROW]] : tensor<?x16xbf16> into %{{.+}} order(#[[$HEADS]])
// CHECK:         %[[SCALAR:.+]] = tensor.collapse_shape %[[ONE]] [] : tensor<1x1xbf16> into tensor<bf16>
// CHECK:         put %[[SCALAR]] : tensor<bf16> into %{{.+}} order(#[[$ALL]])
func.func @sx10_broadcast(%cache: !torch.vtensor<[?,4,16],bf16>, %slots: !torch.vtensor<[?],si64>, %token: !torch.vtensor<[4,16],bf16>, %head: !torch.vtensor<[?,1,16],bf16>, %one: !torch.vtensor<[1,1],bf16>) -> !torch.vtensor<[?,4,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %token, %false) : (!torch.vtensor<[?,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[4,16],bf16>, !torch.bool) -> !torch.vtensor<[?,4,16],bf16>
  %1 = "torch.aten.index_put.hacked_twin"(%0, %list, %head, %false) : (!torch.vtensor<[?,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,1,16],bf16>, !torch.bool) -> !torch.vtensor<[?,4,16],bf16>
  %2 = "torch.aten.index_put.hacked_twin"(%1, %list, %one, %false) : (!torch.vtensor<[?,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[1,1],bf16>, !torch.bool) -> !torch.vtensor<[?,4,16],bf16>
  return %2 : !torch.vtensor<[?,4,16],bf16>
}

// -----

// One token is no broadcast over one token, and a head count of 1 none over one
// head.

// CHECK-LABEL: func.func @one(
// CHECK-NOT:     collapse_shape
// CHECK:         put %{{.+}} : tensor<1x1x16xbf16> into %{{.+}} : tensor<8x1x16xbf16> map(#{{[^ ]+}}){{$}}
func.func @one(%cache: !torch.vtensor<[8,1,16],bf16>, %slots: !torch.vtensor<[1],si64>, %rows: !torch.vtensor<[1,1,16],bf16>) -> !torch.vtensor<[8,1,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[1],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,1,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[1,1,16],bf16>, !torch.bool) -> !torch.vtensor<[8,1,16],bf16>
  return %0 : !torch.vtensor<[8,1,16],bf16>
}

// -----

// Divisions of narrow slots: floor in 64 bits, truncated in their own type.

// CHECK-DAG: #[[$PAGE:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-LABEL: func.func @sx3_narrow(
// CHECK-SAME:    %{{.+}}: tensor<8x4x16xbf16> {{.*}}, %[[SLOTS:[^:]+]]: tensor<3xi32>
// CHECK-NEXT:    %[[WIDE:.+]] = arith.extsi %[[SLOTS]] : tensor<3xi32> to tensor<3xi64>
// CHECK-NEXT:    %[[PAGE:.+]] = kv.apply #[[$PAGE]](%[[WIDE]]) : tensor<3xi64>
// CHECK-NEXT:    %[[FOUR:.+]] = arith.constant dense<4> : tensor<3xi32>
// CHECK-NEXT:    %[[OFFSET:.+]] = arith.remsi %[[SLOTS]], %[[FOUR]] : tensor<3xi32>
// CHECK-NEXT:    kv.write at(%[[PAGE]], %[[OFFSET]] : tensor<3xi64>, tensor<3xi32>)
func.func @sx3_narrow(%cache: !torch.vtensor<[8,4,16],bf16>, %slots: !torch.vtensor<[3],si32>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,4,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%slots, %int4) : (!torch.vtensor<[3],si32>, !torch.int) -> !torch.vtensor<[3],si32>
  %offset = "torch.aten.fmod.Scalar"(%slots, %int4) : (!torch.vtensor<[3],si32>, !torch.int) -> !torch.vtensor<[3],si32>
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[3],si32>, !torch.vtensor<[3],si32>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  return %0 : !torch.vtensor<[8,4,16],bf16>
}

// -----

// A page of narrow slots that is widened after the division is wide already.
// The divisor may be a tensor of rank 0, and detach, alias and conversions to
// the own type change nothing.

// CHECK-LABEL: func.func @identities(
// CHECK-SAME:    %[[CACHE:[^:]+]]: tensor<8x16xbf16> {{.*}}, %[[SLOTS:[^:]+]]: tensor<3xi32>, %[[ROWS:[^:]+]]: tensor<3x16xbf16>)
// CHECK-NEXT:    %[[WIDE:.+]] = arith.extsi %[[SLOTS]]
// CHECK-NEXT:    %[[PAGE:.+]] = kv.apply #{{.+}}(%[[WIDE]])
// CHECK-NEXT:    kv.write at(%[[PAGE]] : tensor<3xi64>)
// CHECK-NEXT:      put %[[ROWS]] : tensor<3x16xbf16> into %[[CACHE]] :
func.func @identities(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si32>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %int15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %floor = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
  %four = "torch.vtensor.literal"() <{value = dense<4> : tensor<si64>}> : () -> !torch.vtensor<[],si64>
  %page = "torch.aten.div.Tensor_mode"(%slots, %four, %floor) : (!torch.vtensor<[3],si32>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[3],si32>
  %wide = "torch.prims.convert_element_type"(%page, %int4) : (!torch.vtensor<[3],si32>, !torch.int) -> !torch.vtensor<[3],si64>
  %detached = "torch.aten.detach"(%rows) : (!torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[3,16],bf16>
  %copied = "torch.aten._to_copy"(%detached, %int15, %none, %none, %none, %false, %none) : (!torch.vtensor<[3,16],bf16>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none) -> !torch.vtensor<[3,16],bf16>
  %alias = "torch.aten.alias"(%cache) : (!torch.vtensor<[8,16],bf16>) -> !torch.vtensor<[8,16],bf16>
  %list = "torch.prim.ListConstruct"(%wide) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%alias, %list, %copied, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %0 : !torch.vtensor<[8,16],bf16>
}

// -----

// What is not in the chain enters through a cast, one for each value, and the
// operation stays: an integer made a float, a division by nothing known or
// nothing positive, a cast of 64-bit floats. Whether a narrowing keeps what it
// narrows is for kv-fuse-chains to find out.

// CHECK-LABEL: func.func @unknown(
// CHECK:         %[[SLOTS:.+]] = "torch_c.to_builtin_tensor"(%{{.+}}) : (!torch.vtensor<[3],si64>) -> tensor<3xi64>
// CHECK:         %[[AT:.+]] = arith.trunci %[[SLOTS]] : tensor<3xi64> to tensor<3xi32>
// CHECK:         %[[DIVIDED:.+]] = "torch.aten.floor_divide.Scalar"
// CHECK-NEXT:    %[[PAGE:.+]] = "torch_c.to_builtin_tensor"(%[[DIVIDED]])
// CHECK:         %[[F64:.+]] = "torch.prims.convert_element_type"
// CHECK-NEXT:    %[[ROWS:.+]] = "torch_c.to_builtin_tensor"(%[[F64]])
// CHECK:         kv.write at(%[[AT]] : tensor<3xi32>)
// CHECK-NEXT:      put %[[ROWS]] :
// CHECK-NOT:     torch
// CHECK:         %[[NEW:.+]] = kv.write at(%[[PAGE]] : tensor<3xi64>)
// CHECK-NEXT:      put %[[ROWS]] :
// CHECK-NEXT:    %[[TORCH:.+]] = "torch_c.from_builtin_tensor"(%[[NEW]])
// CHECK-NEXT:    return %[[TORCH]] : !torch.vtensor<[8,16],bf16>
func.func @unknown(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],f64>) -> !torch.vtensor<[8,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %int15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %narrow = "torch.prims.convert_element_type"(%slots, %int3) : (!torch.vtensor<[3],si64>, !torch.int) -> !torch.vtensor<[3],si32>
  %page = "torch.aten.floor_divide.Scalar"(%slots, %int0) : (!torch.vtensor<[3],si64>, !torch.int) -> !torch.vtensor<[3],si64>
  %cast = "torch.prims.convert_element_type"(%rows, %int15) : (!torch.vtensor<[3,16],f64>, !torch.int) -> !torch.vtensor<[3,16],bf16>
  %list = "torch.prim.ListConstruct"(%narrow) : (!torch.vtensor<[3],si32>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %cast, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  %pages = "torch.prim.ListConstruct"(%page) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put.hacked_twin"(%0, %pages, %cast, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %1 : !torch.vtensor<[8,16],bf16>
}

// -----

// Operations of the chain with other users stay for them.

// CHECK-LABEL: func.func @shared(
// CHECK-SAME:    !torch.vtensor<[8,16],ui8> {bufferization.writable = false, test.name = "cache"}
// CHECK-SAME:    -> (!torch.vtensor<[8,16],ui8>, !torch.vtensor<[3],si64>)
// CHECK:         %[[APPLIED:.+]] = kv.apply
// CHECK-NEXT:    %[[PAGE:.+]] = "torch.aten.floor_divide.Scalar"
// CHECK-NEXT:    kv.write at(%[[APPLIED]] :
// CHECK-NEXT:      put %{{.+}} : tensor<3x16xi8> into %{{.+}} : tensor<8x16xi8>
// CHECK:         return %{{.+}}, %[[PAGE]] :
func.func @shared(%cache: !torch.vtensor<[8,16],ui8> {test.name = "cache"}, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],ui8>) -> (!torch.vtensor<[8,16],ui8>, !torch.vtensor<[3],si64>) {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%slots, %int4) : (!torch.vtensor<[3],si64>, !torch.int) -> !torch.vtensor<[3],si64>
  %list = "torch.prim.ListConstruct"(%page) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],ui8>, !torch.list<vtensor>, !torch.vtensor<[3,16],ui8>, !torch.bool) -> !torch.vtensor<[8,16],ui8>
  return %0, %page : !torch.vtensor<[8,16],ui8>, !torch.vtensor<[3],si64>
}

// -----

// Nor does a function with callers change its type.

// CHECK-LABEL: func.func @called(
// CHECK-SAME:    !torch.vtensor<[8,16],bf16>
// CHECK-LABEL: func.func @caller(
func.func @called(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %0 : !torch.vtensor<[8,16],bf16>
}
func.func @caller(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %0 = call @called(%cache, %slots, %rows) : (!torch.vtensor<[8,16],bf16>, !torch.vtensor<[3],si64>, !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16>
  return %0 : !torch.vtensor<[8,16],bf16>
}

// -----

// Attributes of arguments and results stay with them when a none goes.

// CHECK-LABEL: func.func @attributes(
// CHECK-SAME:    tensor<8x16xbf16> {bufferization.writable = false, test.name = "cache"}
// CHECK-SAME:    -> (tensor<3x16xbf16> {test.name = "rows"}, tensor<8x16xbf16> {test.name = "new"}) {
// CHECK:         return %{{.+}}, %{{.+}} : tensor<3x16xbf16>, tensor<8x16xbf16>
func.func @attributes(%cache: !torch.vtensor<[8,16],bf16> {test.name = "cache"}, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> (!torch.vtensor<[3,16],bf16> {test.name = "rows"}, !torch.none {test.name = "none"}, !torch.vtensor<[8,16],bf16> {test.name = "new"}) {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %rows, %none, %0 : !torch.vtensor<[3,16],bf16>, !torch.none, !torch.vtensor<[8,16],bf16>
}

// -----

// Functions without a write are left alone.

// CHECK-LABEL: func.func @untouched(
// CHECK-SAME:    %[[X:[^:]+]]: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si64>
// CHECK:         "torch.constant.int"
// CHECK:         "torch.prims.convert_element_type"
func.func @untouched(%x: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si64> {
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %0 = "torch.prims.convert_element_type"(%x, %int4) : (!torch.vtensor<[3],si32>, !torch.int) -> !torch.vtensor<[3],si64>
  return %0 : !torch.vtensor<[3],si64>
}
