// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{negative=skip})' | FileCheck %s

// SX4: an index may be negative though no slot is. It is masked too, and what is
// divided may not be rounded as one likes (SX3).



// CHECK-DAG: #[[$SUB:.+]] = affine_map<(d0) -> (d0 - 2)>
// CHECK-LABEL: func.func @difference(
// CHECK-SAME:    %[[SLOTS:[^:]+]]: tensor<5xi64>,
// CHECK:         %[[AT:.+]] = kv.apply #[[$SUB]](%[[SLOTS]])
// CHECK:         %[[PAGE:.+]] = arith.divsi %[[AT]], %{{.+}} : tensor<5xi64>
// CHECK:         %[[SLOT_MASK:.+]] = arith.cmpi sge, %[[SLOTS]], %{{.+}}
// CHECK:         %[[PAGE_MASK:.+]] = arith.cmpi sge, %[[PAGE]], %{{.+}}
// CHECK:         %[[BOTH:.+]] = arith.andi %[[SLOT_MASK]], %[[PAGE_MASK]]
// CHECK:         kv.write at(%[[PAGE]] : tensor<5xi64>) mask(%[[BOTH]] : tensor<5xi1>) negative(undefined)
func.func @difference(%slots: !torch.vtensor<[5],si64>, %cache: !torch.vtensor<[24,8],bf16>, %rows: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %at = "torch.aten.sub.Scalar"(%slots, %int2, %int1) : (!torch.vtensor<[5],si64>, !torch.int, !torch.int) -> !torch.vtensor<[5],si64>
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %trunc = "torch.constant.str"() <{value = "trunc"}> : () -> !torch.str
  %page = "torch.aten.div.Scalar_mode"(%at, %int4, %trunc) : (!torch.vtensor<[5],si64>, !torch.int, !torch.str) -> !torch.vtensor<[5],si64>
  %list = "torch.prim.ListConstruct"(%page) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}
