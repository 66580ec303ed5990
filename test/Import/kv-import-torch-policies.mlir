// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{negative=skip})' | FileCheck %s --check-prefix=SKIP
// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{reserved-slot=0})' | FileCheck %s --check-prefix=RESERVED

// Masks by policy go where the slots go: the comparison stands at the slots as
// they come, and is repeated and put into the shape of the grid as they are.

// SX4, SX6: page and offset of one slot vector, beside an iota of heads.

// SKIP-LABEL: func.func @repeated(
// SKIP-SAME:    %[[SLOTS:[^:]+]]: tensor<5xi64>,
// SKIP:         %[[MASK:.+]] = arith.cmpi sge, %[[SLOTS]], %{{.+}} : tensor<5xi64>
// SKIP:         %[[GRID:.+]] = linalg.broadcast ins(%[[MASK]] : tensor<5xi1>) outs(%{{.+}} : tensor<5x3xi1>) dimensions = [1]
// SKIP-NOT:     cmpi
// SKIP:         mask(%{{.+}} : tensor<5x3xi1>) negative(undefined)
// RESERVED-LABEL: func.func @repeated(
// RESERVED-SAME:    %[[SLOTS:[^:]+]]: tensor<5xi64>,
// RESERVED:         %[[MASK:.+]] = arith.cmpi ne, %[[SLOTS]], %{{.+}} : tensor<5xi64>
// RESERVED:         linalg.broadcast ins(%[[MASK]] : tensor<5xi1>) outs(%{{.+}} : tensor<5x3xi1>) dimensions = [1]
// RESERVED-NOT:     cmpi
// RESERVED:         mask(%{{.+}} : tensor<5x3xi1>) negative(wrap)
func.func @repeated(%slots: !torch.vtensor<[5],si64>, %cache: !torch.vtensor<[6,3,4,8],bf16>, %rows: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[6,3,4,8],bf16> {
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%slots, %int4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %first = "torch.aten.mul.Scalar"(%page, %int4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %offset = "torch.aten.sub.Tensor"(%slots, %first, %int1) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %iota = "torch.aten.arange"(%int3, %none, %none, %none, %false) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[3],si64>
  %pages = "torch.aten.unsqueeze"(%page, %int1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5,1],si64>
  %offsets = "torch.aten.unsqueeze"(%offset, %int1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5,1],si64>
  %list = "torch.prim.ListConstruct"(%pages, %iota, %offsets) : (!torch.vtensor<[5,1],si64>, !torch.vtensor<[3],si64>, !torch.vtensor<[5,1],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  return %0 : !torch.vtensor<[6,3,4,8],bf16>
}

// -----

// Repeated tokens in a collapsed grid, and what a mask picks besides.

// SKIP-LABEL: func.func @collapsed(
// SKIP:         %[[MASK:.+]] = arith.cmpi sge, %{{.+}} : tensor<5xi64>
// SKIP:         %[[GRID:.+]] = linalg.broadcast ins(%[[MASK]] : tensor<5xi1>) outs(%{{.+}} : tensor<3x5xi1>) dimensions = [0]
// SKIP:         %[[ALL:.+]] = tensor.collapse_shape %[[GRID]] {{\[\[}}0, 1]] : tensor<3x5xi1> into tensor<15xi1>
// SKIP:         mask(%[[ALL]] : tensor<15xi1>) negative(undefined)
// SKIP:         %[[BOTH:.+]] = arith.andi %[[PICK:.+]], %{{.+}} : tensor<5xi1>
// SKIP:         mask(%[[BOTH]] : tensor<5xi1>)
// RESERVED-LABEL: func.func @collapsed(
// RESERVED:         mask(%{{.+}} : tensor<15xi1>) negative(wrap)
// RESERVED:         %[[BOTH:.+]] = arith.andi %{{.+}}, %{{.+}} : tensor<5xi1>
// RESERVED:         mask(%[[BOTH]] : tensor<5xi1>) negative(wrap)
func.func @collapsed(%slots: !torch.vtensor<[5],si64>, %pick: !torch.vtensor<[5],i1>, %cache: !torch.vtensor<[24,8],bf16>, %rows: !torch.vtensor<[15,8],bf16>, %k: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %list = "torch.prim.ListConstruct"(%int3) : (!torch.int) -> !torch.list<int>
  %all = "torch.aten.repeat"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<int>) -> !torch.vtensor<[15],si64>
  %list1 = "torch.prim.ListConstruct"(%all) : (!torch.vtensor<[15],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list1, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[15,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%pick) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list2) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %list3 = "torch.prim.ListConstruct"(%pick) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list3) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %list4 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%0, %list4, %r, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %1 : !torch.vtensor<[24,8],bf16>
}
