// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s
// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{negative=wrap})' | FileCheck %s --check-prefix=WRAP

// Torch's other writes of rows by an index tensor.

// SX4: a negative index of index_copy is an error, unless the user says otherwise.

// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d1, d4)>
// CHECK-DAG: #[[$ORDER:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d0, d3)>
// CHECK-LABEL: func.func @index_copy(
// CHECK:         kv.write at(%{{.+}} : tensor<5xi64>) negative(error) out_of_bounds(trap)
// CHECK-NEXT:      put %{{.+}} : tensor<2x3x5x8xbf16> into %{{.+}} : tensor<2x3x16x8xbf16> map(#[[$MAP]]) order(#[[$ORDER]])
// WRAP-LABEL: func.func @index_copy(
// WRAP:         negative(wrap)
func.func @index_copy(%cache: !torch.vtensor<[2,3,16,8],bf16>, %pos: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[2,3,5,8],bf16>) -> !torch.vtensor<[2,3,16,8],bf16> {
  %cm2 = "torch.constant.int"() <{value = -2 : i64}> : () -> !torch.int
  %0 = "torch.aten.index_copy"(%cache, %cm2, %pos, %rows) : (!torch.vtensor<[2,3,16,8],bf16>, !torch.int, !torch.vtensor<[5],si64>, !torch.vtensor<[2,3,5,8],bf16>) -> !torch.vtensor<[2,3,16,8],bf16>
  return %0 : !torch.vtensor<[2,3,16,8],bf16>
}

// -----

// The spelling of torch-mlir, which has no such operation.

// CHECK-LABEL: func.func @index_copy_operator(
// CHECK:         kv.write at(%{{.+}} : tensor<5xi32>) negative(error)
func.func @index_copy_operator(%cache: !torch.vtensor<[16,8],bf16>, %pos: !torch.vtensor<[5],si32>, %rows: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[16,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %0 = "torch.operator"(%cache, %c0, %pos, %rows) <{name = "index_copy"}> : (!torch.vtensor<[16,8],bf16>, !torch.int, !torch.vtensor<[5],si32>, !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[16,8],bf16>
  return %0 : !torch.vtensor<[16,8],bf16>
}

// -----

// An index that is expanded to the row, for scatter: rows of the tokens. It has no
// negative index either.

// CHECK: #[[$ROW:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @scatter(
// CHECK:         kv.write at(%{{.+}} : tensor<?xi64>) negative(error) out_of_bounds(trap)
// CHECK-NEXT:      put %{{.+}} : tensor<?x8xbf16> into %{{.+}} : tensor<16x8xbf16> map(#[[$ROW]])
// WRAP-LABEL: func.func @scatter(
// WRAP:         negative(wrap)
func.func @scatter(%cache: !torch.vtensor<[16,8],bf16>, %pos: !torch.vtensor<[?],si64>, %rows: !torch.vtensor<[?,8],bf16>) -> !torch.vtensor<[16,8],bf16> {
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %u = "torch.aten.unsqueeze"(%pos, %c1) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?,1],si64>
  %e = "torch.aten.expand_as"(%u, %rows) : (!torch.vtensor<[?,1],si64>, !torch.vtensor<[?,8],bf16>) -> !torch.vtensor<[?,8],si64>
  %0 = "torch.aten.scatter.src"(%cache, %c0, %e, %rows) : (!torch.vtensor<[16,8],bf16>, !torch.int, !torch.vtensor<[?,8],si64>, !torch.vtensor<[?,8],bf16>) -> !torch.vtensor<[16,8],bf16>
  return %0 : !torch.vtensor<[16,8],bf16>
}

// -----

// Positions of several sequences: the sequence is a coordinate of the grid. A copy
// of all of the cache that is written instead of it is the cache of a function
// without side effects.

// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2, d4)>
// CHECK-DAG: #[[$ORDER:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: func.func @scatter_sequences(
// CHECK-SAME:    %[[CACHE:[^:]+]]: tensor<2x3x16x8xbf16>
// CHECK-NEXT:    %[[POS:.+]] = tensor.collapse_shape %{{.+}} : tensor<2x1x5x1xi64> into tensor<2x5xi64>
// CHECK-NEXT:    %{{.+}} = kv.write at(%[[POS]] : tensor<2x5xi64>) negative(error) out_of_bounds(trap)
// CHECK-NEXT:      put %{{.+}} : tensor<2x3x5x8xbf16> into %[[CACHE]] : tensor<2x3x16x8xbf16> map(#[[$MAP]]) order(#[[$ORDER]])
func.func @scatter_sequences(%cache: !torch.vtensor<[2,3,16,8],bf16>, %pos: !torch.vtensor<[2,1,5,1],si64>, %rows: !torch.vtensor<[2,3,5,8],bf16>) -> !torch.vtensor<[2,3,16,8],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c = "torch.aten.clone"(%cache, %none) : (!torch.vtensor<[2,3,16,8],bf16>, !torch.none) -> !torch.vtensor<[2,3,16,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%c2, %c3, %c5, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %e = "torch.aten.expand"(%pos, %list0, %false) : (!torch.vtensor<[2,1,5,1],si64>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[2,3,5,8],si64>
  %0 = "torch.aten.scatter.src"(%c, %c2, %e, %rows) : (!torch.vtensor<[2,3,16,8],bf16>, !torch.int, !torch.vtensor<[2,3,5,8],si64>, !torch.vtensor<[2,3,5,8],bf16>) -> !torch.vtensor<[2,3,16,8],bf16>
  return %0 : !torch.vtensor<[2,3,16,8],bf16>
}

// -----

// SX10: rows that end before the cache does are a box.

// CHECK-LABEL: func.func @scatter_box(
// CHECK:           put %{{.+}} : tensor<5x6xbf16> into %{{.+}} : tensor<16x8xbf16> box
func.func @scatter_box(%cache: !torch.vtensor<[16,8],bf16>, %pos: !torch.vtensor<[5,1],si64>, %rows: !torch.vtensor<[5,6],bf16>) -> !torch.vtensor<[16,8],bf16> {
  %c5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c5, %c6) : (!torch.int, !torch.int) -> !torch.list<int>
  %e = "torch.aten.expand"(%pos, %list0, %false) : (!torch.vtensor<[5,1],si64>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[5,6],si64>
  %0 = "torch.aten.scatter.src"(%cache, %c0, %e, %rows) : (!torch.vtensor<[16,8],bf16>, !torch.int, !torch.vtensor<[5,6],si64>, !torch.vtensor<[5,6],bf16>) -> !torch.vtensor<[16,8],bf16>
  return %0 : !torch.vtensor<[16,8],bf16>
}

// -----

// One sequence of a pool, seen as integers of the same width, with a dimension of
// size 1 in front.

// CHECK-LABEL: func.func @unit_view_dims(
// CHECK-SAME:    %[[POOL:[^:]+]]: tensor<3x2x16x3x8xbf16>
// CHECK-DAG:     %[[PART:.+]] = tensor.extract_slice %[[POOL]][1, 0, 0, 0, 0] [1, 1, 16, 3, 8]
// CHECK-DAG:     %[[ROWS:.+]] = tensor.collapse_shape %{{.+}} : tensor<1x5x3x8xi16> into tensor<5x3x8xi16>
// CHECK-DAG:     %[[BITS:.+]] = arith.bitcast %[[ROWS]] : tensor<5x3x8xi16> to tensor<5x3x8xbf16>
// CHECK:         %[[NEW:.+]] = kv.write
// CHECK-NEXT:      put %[[BITS]] : tensor<5x3x8xbf16> into %[[PART]]
// CHECK-NEXT:    %[[ALL:.+]] = tensor.insert_slice %[[NEW]] into %[[POOL]]
// CHECK-NEXT:    return %[[ALL]]
func.func @unit_view_dims(%pool: !torch.vtensor<[3,2,16,3,8],bf16>, %pos: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[1,5,3,8],si16>) -> !torch.vtensor<[3,2,16,3,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %0 = "torch.aten.select.int"(%pool, %c0, %c1) : (!torch.vtensor<[3,2,16,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[2,16,3,8],bf16>
  %1 = "torch.aten.select.int"(%0, %c0, %c0) : (!torch.vtensor<[2,16,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[16,3,8],bf16>
  %2 = "torch.aten.unsqueeze"(%1, %c0) : (!torch.vtensor<[16,3,8],bf16>, !torch.int) -> !torch.vtensor<[1,16,3,8],bf16>
  %3 = "torch.aten.view.dtype"(%2, %c2) : (!torch.vtensor<[1,16,3,8],bf16>, !torch.int) -> !torch.vtensor<[1,16,3,8],si16>
  %4 = "torch.aten.index_copy"(%3, %c1, %pos, %rows) : (!torch.vtensor<[1,16,3,8],si16>, !torch.int, !torch.vtensor<[5],si64>, !torch.vtensor<[1,5,3,8],si16>) -> !torch.vtensor<[1,16,3,8],si16>
  %5 = "torch.aten.view.dtype"(%4, %c15) : (!torch.vtensor<[1,16,3,8],si16>, !torch.int) -> !torch.vtensor<[1,16,3,8],bf16>
  %6 = "torch.aten.squeeze.dim"(%5, %c0) : (!torch.vtensor<[1,16,3,8],bf16>, !torch.int) -> !torch.vtensor<[16,3,8],bf16>
  %7 = "torch.aten.select.int"(%pool, %c0, %c1) : (!torch.vtensor<[3,2,16,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[2,16,3,8],bf16>
  %8 = "torch.aten.select_scatter"(%7, %6, %c0, %c0) : (!torch.vtensor<[2,16,3,8],bf16>, !torch.vtensor<[16,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[2,16,3,8],bf16>
  %9 = "torch.aten.select_scatter"(%pool, %8, %c0, %c1) : (!torch.vtensor<[3,2,16,3,8],bf16>, !torch.vtensor<[2,16,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[3,2,16,3,8],bf16>
  return %9 : !torch.vtensor<[3,2,16,3,8],bf16>
}

// -----

// A gather makes a new tensor: whoever uses it later does not read the cache. Of an
// unknown operation that is not known.

// CHECK-LABEL: func.func @gathered_before(
// CHECK:         "torch.aten.index.Tensor"({{.+}}) {kv.new_results}
// CHECK-NEXT:    %{{.+}} = "test.read"(%{{.+}}) :
// CHECK:         kv.write
func.func @gathered_before(%cache: !torch.vtensor<[16,8],bf16>, %slots: !torch.vtensor<[5],si64>, %old: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[5,8],bf16>) -> (!torch.vtensor<[3,8],bf16>, !torch.vtensor<[8],bf16>, !torch.vtensor<[16,8],bf16>) {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %l = "torch.prim.ListConstruct"(%old) : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %0 = "torch.aten.index.Tensor"(%cache, %l) : (!torch.vtensor<[16,8],bf16>, !torch.list<optional<vtensor>>) -> !torch.vtensor<[3,8],bf16>
  %1 = "test.read"(%cache) : (!torch.vtensor<[16,8],bf16>) -> !torch.vtensor<[8],bf16>
  %list0 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %2 = "torch.aten.index_put"(%cache, %list0, %rows, %false) : (!torch.vtensor<[16,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[16,8],bf16>
  return %0, %1, %2 : !torch.vtensor<[3,8],bf16>, !torch.vtensor<[8],bf16>, !torch.vtensor<[16,8],bf16>
}
