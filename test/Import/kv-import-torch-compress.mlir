// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// Slots and rows that one mask picks are taken whole, with the mask: a row that
// it does not pick is not written. `!= -1` leaves -2 to wrap. What only asserts
// how many were picked goes.

// CHECK-LABEL: func.func @one_mask(
// CHECK-SAME:    %[[SLOTS:[^:]+]]: tensor<5xi64>, %[[K:[^:]+]]: tensor<5x3x8xbf16>,
// CHECK:         %[[MASK:.+]] = arith.cmpi ne, %[[SLOTS]], %{{.+}} : tensor<5xi64>
// CHECK:         %[[PAGE:.+]] = kv.apply #{{.+}}(%[[SLOTS]]) : tensor<5xi64>
// CHECK:         %[[OFFSET:.+]] = kv.apply #{{.+}}(%[[SLOTS]]) : tensor<5xi64>
// CHECK:         kv.write at(%[[PAGE]], %[[OFFSET]] : tensor<5xi64>, tensor<5xi64>) mask(%[[MASK]] : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put %[[K]] : tensor<5x3x8xbf16>
// CHECK-NOT:     torch
func.func @one_mask(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,3,8],bf16>, %cache: !torch.vtensor<[6,4,3,8],bf16>) -> !torch.vtensor<[6,4,3,8],bf16> {
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %mask = "torch.aten.ne.Scalar"(%slots, %int_1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %n = "torch.aten.size.int"(%s, %int0) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.int
  %ge = "torch.aten.ge.int"(%n, %int0) : (!torch.int, !torch.int) -> !torch.bool
  %i = "torch.aten.Int.bool"(%ge) : (!torch.bool) -> !torch.int
  %size = "torch.constant.str"() <{value = "size"}> : () -> !torch.str
  "torch.aten._assert_scalar"(%i, %size) : (!torch.int, !torch.str) -> ()
  %int5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %le = "torch.aten.le.int"(%n, %int5) : (!torch.int, !torch.int) -> !torch.bool
  %j = "torch.aten.Int.bool"(%le) : (!torch.bool) -> !torch.int
  %b = "torch.aten.Bool.int"(%j) : (!torch.int) -> !torch.bool
  "torch.runtime.assert"(%b) <{message = "size"}> : (!torch.bool) -> ()
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%s, %int4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
  %offset = "torch.aten.remainder.Scalar"(%s, %int4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
  %list1 = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %rows = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[5,3,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,3,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list2, %rows, %false) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,3,8],bf16>
  return %0 : !torch.vtensor<[6,4,3,8],bf16>
}

// -----

// An assertion that the mask may break stays.

// CHECK-LABEL: func.func @assertion(
// CHECK:         "torch.aten.size.int"
// CHECK:         "torch.aten._assert_scalar"
// CHECK:         kv.write at(%{{.+}} : tensor<5xi64>) mask(
func.func @assertion(%slots: !torch.vtensor<[5],si64>, %mask: !torch.vtensor<[5],i1>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %n = "torch.aten.size.int"(%s, %int0) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.int
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %le = "torch.aten.le.int"(%n, %int4) : (!torch.int, !torch.int) -> !torch.bool
  %i = "torch.aten.Int.bool"(%le) : (!torch.bool) -> !torch.int
  %size = "torch.constant.str"() <{value = "size"}> : () -> !torch.str
  "torch.aten._assert_scalar"(%i, %size) : (!torch.int, !torch.str) -> ()
  %list1 = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %rows = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list2, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// A mask of what a mask picks: both must hold. The mask of the rows is computed
// anew, in the same way.

// CHECK-DAG: #[[$PAGE:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-LABEL: func.func @two_masks(
// CHECK-SAME:    %[[SLOTS:[^:]+]]: tensor<5xi64>, %[[K:[^:]+]]: tensor<5x8xf32>,
// CHECK:         %[[FIRST:.+]] = arith.cmpi sge, %[[SLOTS]], %{{.+}} : tensor<5xi64>
// CHECK:         %[[PAGE:.+]] = kv.apply #[[$PAGE]](%[[SLOTS]])
// CHECK:         %[[SECOND:.+]] = arith.cmpi slt, %[[PAGE]], %{{.+}} : tensor<5xi64>
// CHECK:         %[[BOTH:.+]] = arith.andi %[[FIRST]], %[[SECOND]] : tensor<5xi1>
// CHECK:         %[[CAST:.+]] = kv.cast %[[K]] : tensor<5x8xf32> to tensor<5x8xbf16>
// CHECK:         kv.write at(%[[SLOTS]] : tensor<5xi64>) mask(%[[BOTH]] : tensor<5xi1>)
// CHECK-NEXT:      put %[[CAST]]
// CHECK-NOT:     torch
func.func @two_masks(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],f32>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %m = "torch.aten.ge.Scalar"(%slots, %int0) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %list = "torch.prim.ListConstruct"(%m) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%s, %int4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
  %int6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %n = "torch.aten.lt.Scalar"(%page, %int6) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],i1>
  %list1 = "torch.prim.ListConstruct"(%n) : (!torch.vtensor<[?],i1>) -> !torch.list<vtensor>
  %t = "torch.aten.index.Tensor"(%s, %list1) : (!torch.vtensor<[?],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %m1 = "torch.aten.ge.Scalar"(%slots, %int0) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %list2 = "torch.prim.ListConstruct"(%m1) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list2) : (!torch.vtensor<[5,8],f32>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],f32>
  %list3 = "torch.prim.ListConstruct"(%n) : (!torch.vtensor<[?],i1>) -> !torch.list<vtensor>
  %u = "torch.aten.index.Tensor"(%r, %list3) : (!torch.vtensor<[?,8],f32>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],f32>
  %v = "torch.aten.contiguous"(%u, %int0) : (!torch.vtensor<[?,8],f32>, !torch.int) -> !torch.vtensor<[?,8],f32>
  %int15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %rows = "torch.prims.convert_element_type"(%v, %int15) : (!torch.vtensor<[?,8],f32>, !torch.int) -> !torch.vtensor<[?,8],bf16>
  %list4 = "torch.prim.ListConstruct"(%t) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list4, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// Through views, parts along other dimensions, and repetition; a mask of several
// dimensions picks from the collapsed ones. Booleans are combined as they are.

// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[PAIRS:[^:]+]]: tensor<2x4x2xi64>, %[[MASK:[^:]+]]: tensor<2x4xi1>, %[[OTHER:[^:]+]]: tensor<2x4xi1>, %[[K:[^:]+]]: tensor<2x4x6xbf16>,
// CHECK-DAG:     %[[NOT:.+]] = arith.xori %[[OTHER]], %{{.+}} : tensor<2x4xi1>
// CHECK-DAG:     %[[AND:.+]] = arith.andi %[[MASK]], %[[NOT]] : tensor<2x4xi1>
// CHECK-DAG:     %[[FLAT:.+]] = tensor.collapse_shape %[[AND]] {{\[\[}}0, 1]] : tensor<2x4xi1> into tensor<8xi1>
// CHECK-DAG:     %[[BOTH:.+]] = tensor.collapse_shape %[[PAIRS]] {{\[\[}}0, 1], [2]] : tensor<2x4x2xi64> into tensor<8x2xi64>
// CHECK-DAG:     %[[PAGE:.+]] = tensor.extract_slice %[[BOTH]][0, 0] [8, 1] [1, 1] : tensor<8x2xi64> to tensor<8xi64>
// CHECK-DAG:     %[[ROWS:.+]] = tensor.collapse_shape %[[K]] {{\[\[}}0, 1], [2]] : tensor<2x4x6xbf16> into tensor<8x6xbf16>
// CHECK-DAG:     %[[SPLIT:.+]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0], [1, 2]] output_shape [8, 3, 2] : tensor<8x6xbf16> into tensor<8x3x2xbf16>
// CHECK-DAG:     %[[GRID:.+]] = linalg.broadcast ins(%[[PAGE]] : tensor<8xi64>) outs(%{{.+}} : tensor<8x3xi64>) dimensions = [1]
// CHECK-DAG:     %[[GRIDMASK:.+]] = linalg.broadcast ins(%{{.+}} : tensor<8xi1>) outs(%{{.+}} : tensor<8x3xi1>) dimensions = [1]
// CHECK:         kv.write at(%[[GRID]], %{{.+}} : tensor<8x3xi64>, tensor<8x3xi64>) mask(%[[GRIDMASK]] : tensor<8x3xi1>)
// CHECK-NEXT:      put %[[SPLIT]] : tensor<8x3x2xbf16>
// CHECK-NOT:     torch
func.func @views(%pairs: !torch.vtensor<[2,4,2],si64>, %mask: !torch.vtensor<[2,4],i1>, %other: !torch.vtensor<[2,4],i1>, %k: !torch.vtensor<[2,4,6],bf16>, %cache: !torch.vtensor<[6,3,2],bf16>) -> !torch.vtensor<[6,3,2],bf16> {
  %not = "torch.aten.logical_not"(%other) : (!torch.vtensor<[2,4],i1>) -> !torch.vtensor<[2,4],i1>
  %and = "torch.aten.__and__.Tensor"(%mask, %not) : (!torch.vtensor<[2,4],i1>, !torch.vtensor<[2,4],i1>) -> !torch.vtensor<[2,4],i1>
  %list = "torch.prim.ListConstruct"(%and) : (!torch.vtensor<[2,4],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%pairs, %list) : (!torch.vtensor<[2,4,2],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?,2],si64>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %page = "torch.aten.select.int"(%s, %int1, %int0) : (!torch.vtensor<[?,2],si64>, !torch.int, !torch.int) -> !torch.vtensor<[?],si64>
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %list1 = "torch.prim.ListConstruct"(%int_1, %int1) : (!torch.int, !torch.int) -> !torch.list<int>
  %pages = "torch.aten.view"(%page, %list1) : (!torch.vtensor<[?],si64>, !torch.list<int>) -> !torch.vtensor<[?,1],si64>
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %heads = "torch.aten.arange"(%int3, %none, %none, %none, %false) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[3],si64>
  %list2 = "torch.prim.ListConstruct"(%and) : (!torch.vtensor<[2,4],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list2) : (!torch.vtensor<[2,4,6],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,6],bf16>
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %list3 = "torch.prim.ListConstruct"(%int_1, %int3, %int2) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %rows = "torch.aten.view"(%r, %list3) : (!torch.vtensor<[?,6],bf16>, !torch.list<int>) -> !torch.vtensor<[?,3,2],bf16>
  %list4 = "torch.prim.ListConstruct"(%pages, %heads) : (!torch.vtensor<[?,1],si64>, !torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list4, %rows, %false) : (!torch.vtensor<[6,3,2],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,3,2],bf16>, !torch.bool) -> !torch.vtensor<[6,3,2],bf16>
  return %0 : !torch.vtensor<[6,3,2],bf16>
}

// -----

// Rows that are the same for all tokens need not be picked, and may be behind a
// dimension of heads.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[SLOTS:[^:]+]]: tensor<5xi64>, %[[MASK:[^:]+]]: tensor<5xi1>, %[[ONE:[^:]+]]: tensor<8xbf16>, %[[K:[^:]+]]: tensor<3x5x8xbf16>,
// CHECK:         kv.write at(%[[SLOTS]] : tensor<5xi64>) mask(%[[MASK]] : tensor<5xi1>)
// CHECK-NEXT:      put %[[ONE]] : tensor<8xbf16>
// CHECK:         kv.write at(%[[SLOTS]] : tensor<5xi64>) mask(%[[MASK]] : tensor<5xi1>)
// CHECK-NEXT:      put %[[K]] : tensor<3x5x8xbf16>
// CHECK-NOT:     torch
func.func @rows(%slots: !torch.vtensor<[5],si64>, %mask: !torch.vtensor<[5],i1>, %one: !torch.vtensor<[8],bf16>, %k: !torch.vtensor<[3,5,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>, %heads: !torch.vtensor<[3,24,8],bf16>) -> (!torch.vtensor<[24,8],bf16>, !torch.vtensor<[3,24,8],bf16>) {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %list1 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list1, %one, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  %none = "torch.constant.none"() : () -> !torch.none
  %list2 = "torch.prim.ListConstruct"(%none, %mask) : (!torch.none, !torch.vtensor<[5],i1>) -> !torch.list<optional<vtensor>>
  %r = "torch.aten.index.Tensor"(%k, %list2) : (!torch.vtensor<[3,5,8],bf16>, !torch.list<optional<vtensor>>) -> !torch.vtensor<[3,?,8],bf16>
  %list3 = "torch.prim.ListConstruct"(%none, %s) : (!torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %1 = "torch.aten.index_put"(%heads, %list3, %r, %false) : (!torch.vtensor<[3,24,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,?,8],bf16>, !torch.bool) -> !torch.vtensor<[3,24,8],bf16>
  return %0, %1 : !torch.vtensor<[24,8],bf16>, !torch.vtensor<[3,24,8],bf16>
}

// -----

// What is computed from picked tensors by an unknown operation is a root, as
// torch has it: if all of it is, nothing is picked here.

// CHECK-LABEL: func.func @roots(
// CHECK:         %[[GATHER:.+]] = "torch.aten.index_select"
// CHECK:         %[[AT:.+]] = "torch_c.to_builtin_tensor"(%[[GATHER]]) : (!torch.vtensor<[?],si64>) -> tensor<?xi64>
// CHECK:         %[[RELU:.+]] = "torch.aten.relu"
// CHECK:         %[[ROWS:.+]] = "torch_c.to_builtin_tensor"(%[[RELU]]) : (!torch.vtensor<[?,8],bf16>) -> tensor<?x8xbf16>
// CHECK:         kv.write at(%[[AT]] : tensor<?xi64>) negative
// CHECK-NEXT:      put %[[ROWS]]
func.func @roots(%slots: !torch.vtensor<[5],si64>, %table: !torch.vtensor<[9],si64>, %mask: !torch.vtensor<[5],i1>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %at = "torch.aten.index_select"(%table, %int0, %s) : (!torch.vtensor<[9],si64>, !torch.int, !torch.vtensor<[?],si64>) -> !torch.vtensor<[?],si64>
  %list1 = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %rows = "torch.aten.relu"(%r) : (!torch.vtensor<[?,8],bf16>) -> !torch.vtensor<[?,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%at) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list2, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}
