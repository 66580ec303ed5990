// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{reserved-slot=0})'

// SX6: page 0 of a block table is not slot 0, nor is the first position.



func.func @page_of_table(%page: !torch.vtensor<[5],si64>, %cache: !torch.vtensor<[24,8],bf16>, %rows: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %first = "torch.aten.mul.Scalar"(%page, %int4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %int5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %offset = "torch.aten.arange"(%int5, %none, %none, %none, %false) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[5],si64>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %row = "torch.aten.add.Tensor"(%first, %offset, %int1) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %list = "torch.prim.ListConstruct"(%row) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  // expected-error @below {{SX6: reserved slot 0 cannot be told from a tensor that is only a part of the slot}}
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}

// -----



func.func @start(%start: !torch.vtensor<[2,1],si64>, %cache: !torch.vtensor<[24,8],bf16>, %rows: !torch.vtensor<[2,5,8],bf16>) -> !torch.vtensor<[24,8],bf16> {
  %int5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %offset = "torch.aten.arange"(%int5, %none, %none, %none, %false) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[5],si64>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %at = "torch.aten.add.Tensor"(%start, %offset, %int1) : (!torch.vtensor<[2,1],si64>, !torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[2,5],si64>
  %int24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %ring = "torch.aten.remainder.Scalar"(%at, %int24) : (!torch.vtensor<[2,5],si64>, !torch.int) -> !torch.vtensor<[2,5],si64>
  %list = "torch.prim.ListConstruct"(%ring) : (!torch.vtensor<[2,5],si64>) -> !torch.list<vtensor>
  // expected-error @below {{SX6: reserved slot 0 cannot be told from a tensor that is only a part of the slot}}
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[2,5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  return %0 : !torch.vtensor<[24,8],bf16>
}
