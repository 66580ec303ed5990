// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// What is picked by different masks stays, and a remark names the write and
// what picks. The diagnostics also count.

// CHECK-LABEL: func.func @different(

// CHECK-NOT:     kv.
// CHECK:         "torch.aten.index_put"
func.func @different(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],bf16>, %other: !torch.vtensor<[5],i1>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %mask = "torch.aten.ne.Scalar"(%slots, %int_1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %list1 = "torch.prim.ListConstruct"(%other) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark-re @below {{[Missed] data-dependent | Category:kvfuse | Function=different | Cause=loc("{{.*}}":17:8), Reason="indices and rows are picked by different masks", Suggestion="pick indices and rows by one and the same mask"}}
  %0 = "torch.aten.index_put"(%cache, %list2, %r, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// CHECK-LABEL: func.func @other_scalar(

// CHECK-NOT:     kv.
func.func @other_scalar(%slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %mask = "torch.aten.ne.Scalar"(%slots, %int_1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %int_2 = "torch.constant.int"() <{value = -2 : i64}> : () -> !torch.int
  %mask1 = "torch.aten.ne.Scalar"(%slots, %int_2) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %list1 = "torch.prim.ListConstruct"(%mask1) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark @below {{data-dependent}}
  %0 = "torch.aten.index_put"(%cache, %list2, %r, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// CHECK-LABEL: func.func @indices_alone(

// CHECK-NOT:     kv.
func.func @indices_alone(%slots: !torch.vtensor<[5],si64>, %mask: !torch.vtensor<[5],i1>, %k: !torch.vtensor<[?,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %list1 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark-re @below {{data-dependent {{.*}}Reason="indices are picked by a mask, and rows are not"}}
  %0 = "torch.aten.index_put"(%cache, %list1, %k, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// CHECK-LABEL: func.func @rows_alone(

// CHECK-NOT:     kv.
func.func @rows_alone(%slots: !torch.vtensor<[?],si64>, %mask: !torch.vtensor<[5],i1>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[24,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark-re @below {{data-dependent {{.*}}Reason="rows are picked by a mask, and indices are not"}}
  %0 = "torch.aten.index_put"(%cache, %list1, %r, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----

// One index is a gather at picked slots, the other one picked: no mask holds for
// both.

// CHECK-LABEL: func.func @one_index(

// CHECK-NOT:     kv.
func.func @one_index(%slots: !torch.vtensor<[5],si64>, %table: !torch.vtensor<[9],si64>, %mask: !torch.vtensor<[5],i1>, %k: !torch.vtensor<[5,8],bf16>, %cache: !torch.vtensor<[6,4,8],bf16>) -> !torch.vtensor<[6,4,8],bf16> {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[5],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %number = "torch.aten.floor_divide.Scalar"(%s, %int4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %page = "torch.aten.index_select"(%table, %int0, %number) : (!torch.vtensor<[9],si64>, !torch.int, !torch.vtensor<[?],si64>) -> !torch.vtensor<[?],si64>
  %offset = "torch.aten.remainder.Scalar"(%s, %int4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
  %list1 = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[5],i1>) -> !torch.list<vtensor>
  %r = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[5,8],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[?,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark-re @below {{data-dependent {{.*}}Reason="indices are not all picked by the same mask"}}
  %0 = "torch.aten.index_put"(%cache, %list2, %r, %false) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,8],bf16>
  return %0 : !torch.vtensor<[6,4,8],bf16>
}

// -----

// The rows are picked along the dimension of the heads, of which there happen to
// be as many.

// CHECK-LABEL: func.func @other_dimension(

// CHECK-NOT:     kv.
func.func @other_dimension(%slots: !torch.vtensor<[3],si64>, %mask: !torch.vtensor<[3],i1>, %k: !torch.vtensor<[3,3,8],bf16>, %cache: !torch.vtensor<[24,3,8],bf16>) -> !torch.vtensor<[24,3,8],bf16> {
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[3],i1>) -> !torch.list<vtensor>
  %s = "torch.aten.index.Tensor"(%slots, %list) : (!torch.vtensor<[3],si64>, !torch.list<vtensor>) -> !torch.vtensor<[?],si64>
  %none = "torch.constant.none"() : () -> !torch.none
  %list1 = "torch.prim.ListConstruct"(%none, %mask) : (!torch.none, !torch.vtensor<[3],i1>) -> !torch.list<optional<vtensor>>
  %r = "torch.aten.index.Tensor"(%k, %list1) : (!torch.vtensor<[3,3,8],bf16>, !torch.list<optional<vtensor>>) -> !torch.vtensor<[3,?,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%s) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark-re @below {{data-dependent {{.*}}Reason="indices and rows are picked by different masks"}}
  %0 = "torch.aten.index_put"(%cache, %list2, %r, %false) : (!torch.vtensor<[24,3,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,?,8],bf16>, !torch.bool) -> !torch.vtensor<[24,3,8],bf16>
  return %0 : !torch.vtensor<[24,3,8],bf16>
}
