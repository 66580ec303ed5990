// RUN: kvfuse-opt %s --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// Assertions that hold by type are dropped, whatever device they name.

// CHECK-LABEL: func.func @holds(
// CHECK-SAME:    tensor<8x16xbf16>
// CHECK-NOT:     torch
// CHECK:         kv.write
// CHECK-NEXT:      put
// CHECK-NEXT:    return
func.func @holds(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %int15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %int16 = "torch.constant.int"() <{value = 16 : i64}> : () -> !torch.int
  %device = "torch.constant.device"() <{value = "cuda:0"}> : () -> !torch.Device
  %size = "torch.prim.ListConstruct"(%int3, %int16) : (!torch.int, !torch.int) -> !torch.list<int>
  "torch.aten._assert_tensor_metadata"(%rows, %size, %none, %int15, %device, %int0) : (!torch.vtensor<[3,16],bf16>, !torch.list<int>, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
  "torch.aten._assert_tensor_metadata"(%slots, %none, %none, %none, %none, %none) : (!torch.vtensor<[3],si64>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none) -> ()
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  "torch.aten._assert_tensor_metadata"(%0, %none, %none, %int15, %none, %none) : (!torch.vtensor<[8,16],bf16>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none) -> ()
  return %0 : !torch.vtensor<[8,16],bf16>
}

// What types cannot tell stays: strides, the size of a dynamic dimension, a
// dtype that is computed. So do assertions on tensors outside of the chain.

// CHECK-LABEL: func.func @stays(
// CHECK-SAME:    !torch.vtensor<[?,16],bf16>
// CHECK-COUNT-5: "torch.aten._assert_tensor_metadata"
func.func @stays(%cache: !torch.vtensor<[?,16],bf16>, %slots: !torch.vtensor<[?],si64>, %rows: !torch.vtensor<[?,16],bf16>, %other: !torch.vtensor<[2],f32>, %dtype: !torch.int) -> !torch.vtensor<[?,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %int16 = "torch.constant.int"() <{value = 16 : i64}> : () -> !torch.int
  %size = "torch.prim.ListConstruct"(%int3, %int16) : (!torch.int, !torch.int) -> !torch.list<int>
  %stride = "torch.prim.ListConstruct"(%int16, %int1) : (!torch.int, !torch.int) -> !torch.list<int>
  "torch.aten._assert_tensor_metadata"(%rows, %size, %none, %none, %none, %none) : (!torch.vtensor<[?,16],bf16>, !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none) -> ()
  "torch.aten._assert_tensor_metadata"(%rows, %none, %stride, %none, %none, %none) : (!torch.vtensor<[?,16],bf16>, !torch.none, !torch.list<int>, !torch.none, !torch.none, !torch.none) -> ()
  "torch.aten._assert_tensor_metadata"(%rows, %none, %none, %dtype, %none, %none) : (!torch.vtensor<[?,16],bf16>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none) -> ()
  "torch.aten._assert_tensor_metadata"(%rows, %none, %none, %none, %none, %dtype) : (!torch.vtensor<[?,16],bf16>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.int) -> ()
  "torch.aten._assert_tensor_metadata"(%other, %none, %none, %int1, %none, %none) : (!torch.vtensor<[2],f32>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none) -> ()
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[?,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,16],bf16>, !torch.bool) -> !torch.vtensor<[?,16],bf16>
  return %0 : !torch.vtensor<[?,16],bf16>
}
