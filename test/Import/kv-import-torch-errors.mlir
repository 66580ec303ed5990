// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{mutates=0,1 reserved-slot=7})'

// Assertions that do not hold, one error for each.

func.func @metadata(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %int6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %int99 = "torch.constant.int"() <{value = 99 : i64}> : () -> !torch.int
  %rank1 = "torch.prim.ListConstruct"(%int6) : (!torch.int) -> !torch.list<int>
  %rank2 = "torch.prim.ListConstruct"(%int6, %int6) : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{tensor metadata assertion does not hold: dtype 6 ('f32'), but the tensor is of 'bf16'}}
  "torch.aten._assert_tensor_metadata"(%rows, %none, %none, %int6, %none, %none) : (!torch.vtensor<[3,16],bf16>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none) -> ()
  // expected-error @below {{tensor metadata assertion does not hold: dtype 99, but the tensor is of 'bf16'}}
  "torch.aten._assert_tensor_metadata"(%rows, %none, %none, %int99, %none, %none) : (!torch.vtensor<[3,16],bf16>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none) -> ()
  // expected-error @below {{tensor metadata assertion does not hold: rank 1, but the tensor has rank 2}}
  "torch.aten._assert_tensor_metadata"(%rows, %rank1, %none, %none, %none, %none) : (!torch.vtensor<[3,16],bf16>, !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none) -> ()
  // expected-error @below {{tensor metadata assertion does not hold: size 6 of dimension 0, but the tensor has size 3}}
  "torch.aten._assert_tensor_metadata"(%rows, %rank2, %none, %none, %none, %none) : (!torch.vtensor<[3,16],bf16>, !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none) -> ()
  // expected-error @below {{tensor metadata assertion does not hold: layout 1, but the tensor is strided (0)}}
  "torch.aten._assert_tensor_metadata"(%rows, %none, %none, %none, %none, %int1) : (!torch.vtensor<[3,16],bf16>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.int) -> ()
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %0 : !torch.vtensor<[8,16],bf16>
}

// -----

// SX6: page 3, offset 7 of some page size is not slot 7.

func.func @sx6_reserved(%cache: !torch.vtensor<[8,4,16],bf16>, %page: !torch.vtensor<[3],si64>, %offset: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,4,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  // expected-error @below {{SX6: reserved slot 7 cannot be told from indices that come from 2 tensors instead of one}}
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  return %0 : !torch.vtensor<[8,4,16],bf16>
}

// -----

// SM5: numbers that name no tensor.

// expected-error @below {{mutates: argument 1 of @no_tensor is no tensor but 'index'}}
func.func @no_tensor(%cache: tensor<8x16xbf16>, %unused: index, %slots: tensor<3xi64>, %rows: tensor<3x16xbf16>) -> tensor<8x16xbf16> {
  %0 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %cache : tensor<8x16xbf16> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<8x16xbf16>
}

// -----

// expected-error @below {{mutates: there is no argument 1: @no_argument has 1 arguments}}
func.func @no_argument(%cache: tensor<8x16xbf16>) -> tensor<8x16xbf16> {
  %slots = arith.constant dense<1> : tensor<3xi64>
  %rows = arith.constant dense<1.0> : tensor<3x16xbf16>
  %0 = kv.write at(%slots : tensor<3xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<3x16xbf16> into %cache : tensor<8x16xbf16> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<8x16xbf16>
}
