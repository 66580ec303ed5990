// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// Caches seen through views: slices are slices of the base, and all else is in
// the map of the write. No operation reshapes a cache.

// K and V are selected from one pool and put back, one after the other.

// CHECK-LABEL: func.func @select(
// CHECK-SAME:    %[[POOL:[^:]+]]: tensor<6x2x3x4x8xbf16>
// CHECK-NEXT:    %[[K:.+]] = tensor.extract_slice %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
// CHECK-NEXT:    %[[K1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[K]] :
// CHECK-NEXT:    %[[POOL1:.+]] = tensor.insert_slice %[[K1]] into %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V:.+]] = tensor.extract_slice %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[V]] :
// CHECK-NEXT:    %[[POOL2:.+]] = tensor.insert_slice %[[V1]] into %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    return %[[POOL2]]
func.func @select(%pool: !torch.vtensor<[6,2,3,4,8],bf16>, %page: !torch.vtensor<[5],si64>, %offset: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,3,8],bf16>, %v: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[6,2,3,4,8],bf16> {
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %cm1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %0 = "torch.aten.select.int"(%pool, %c1, %c0) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %1 = "torch.aten.index_put"(%0, %list0, %k, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %2 = "torch.aten.select_scatter"(%pool, %1, %c1, %c0) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %3 = "torch.aten.select.int"(%2, %c1, %cm1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %4 = "torch.aten.index_put"(%3, %list1, %v, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %5 = "torch.aten.select_scatter"(%2, %4, %c1, %c1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %6 = "torch.aten.copy"(%pool, %5, %false) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,2,3,4,8],bf16>, !torch.bool) -> !torch.vtensor<[6,2,3,4,8],bf16>
  return %6 : !torch.vtensor<[6,2,3,4,8],bf16>
}

// -----

// The same as torch-mlir simplifies it.

// CHECK-LABEL: func.func @slice_and_squeeze(
// CHECK-SAME:    %[[POOL:[^:]+]]: tensor<6x2x3x4x8xbf16>
// CHECK-NEXT:    %[[K:.+]] = tensor.extract_slice %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
// CHECK-NEXT:    %[[K1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[K]] :
// CHECK-NEXT:    %[[POOL1:.+]] = tensor.insert_slice %[[K1]] into %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V:.+]] = tensor.extract_slice %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[V]] :
// CHECK-NEXT:    %[[POOL2:.+]] = tensor.insert_slice %[[V1]] into %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    return %[[POOL2]]
func.func @slice_and_squeeze(%pool: !torch.vtensor<[6,2,3,4,8],bf16>, %page: !torch.vtensor<[5],si64>, %offset: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,3,8],bf16>, %v: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[6,2,3,4,8],bf16> {
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %s0 = "torch.aten.slice.Tensor"(%pool, %c1, %c0, %c1, %c1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[6,1,3,4,8],bf16>
  %q0 = "torch.aten.squeeze.dim"(%s0, %c1) : (!torch.vtensor<[6,1,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %w0 = "torch.aten.index_put"(%q0, %list0, %k, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %u0 = "torch.aten.unsqueeze"(%w0, %c1) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,1,3,4,8],bf16>
  %p0 = "torch.aten.slice_scatter"(%pool, %u0, %c1, %c0, %c1, %c1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,1,3,4,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %s1 = "torch.aten.slice.Tensor"(%p0, %c1, %c1, %c2, %c1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[6,1,3,4,8],bf16>
  %q1 = "torch.aten.squeeze.dim"(%s1, %c1) : (!torch.vtensor<[6,1,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %w1 = "torch.aten.index_put"(%q1, %list1, %v, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %u1 = "torch.aten.unsqueeze"(%w1, %c1) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,1,3,4,8],bf16>
  %p1 = "torch.aten.slice_scatter"(%p0, %u1, %c1, %c1, %c2, %c1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,1,3,4,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[6,2,3,4,8],bf16>
  return %p1 : !torch.vtensor<[6,2,3,4,8],bf16>
}

// -----

// The same as torch decomposes it: where an iota is the number of the part, the
// part, elsewhere the pool.

// CHECK-LABEL: func.func @where(
// CHECK-SAME:    %[[POOL:[^:]+]]: tensor<6x2x3x4x8xbf16>
// CHECK-NEXT:    %[[K:.+]] = tensor.extract_slice %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
// CHECK-NEXT:    %[[K1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[K]] :
// CHECK-NEXT:    %[[POOL1:.+]] = tensor.insert_slice %[[K1]] into %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V:.+]] = tensor.extract_slice %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[V]] :
// CHECK-NEXT:    %[[POOL2:.+]] = tensor.insert_slice %[[V1]] into %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    return %[[POOL2]]
func.func @where(%pool: !torch.vtensor<[6,2,3,4,8],bf16>, %page: !torch.vtensor<[5],si64>, %offset: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,3,8],bf16>, %v: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[6,2,3,4,8],bf16> {
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %cm1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %s0 = "torch.aten.select.int"(%pool, %c1, %c0) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %w0 = "torch.aten.index_put"(%s0, %list0, %k, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %i0 = "torch.aten.arange.start_step"(%c0, %c2, %c1, %none, %none, %none, %none) : (!torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[2],si64>
  %list1 = "torch.prim.ListConstruct"(%c1, %cm1, %c1, %c1, %c1) : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v0 = "torch.aten.view"(%i0, %list1) : (!torch.vtensor<[2],si64>, !torch.list<int>) -> !torch.vtensor<[1,2,1,1,1],si64>
  %m0 = "torch.aten.eq.Scalar"(%v0, %c0) : (!torch.vtensor<[1,2,1,1,1],si64>, !torch.int) -> !torch.vtensor<[1,2,1,1,1],i1>
  %u0 = "torch.aten.unsqueeze"(%w0, %c1) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,1,3,4,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%c6, %c2, %c3, %c4, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %e0 = "torch.aten.broadcast_to"(%u0, %list2) : (!torch.vtensor<[6,1,3,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %p0 = "torch.aten.where.self"(%m0, %e0, %pool) : (!torch.vtensor<[1,2,1,1,1],i1>, !torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,2,3,4,8],bf16>) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %s1 = "torch.aten.select.int"(%p0, %c1, %c1) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list3 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %w1 = "torch.aten.index_put"(%s1, %list3, %v, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %i1 = "torch.aten.arange.start_step"(%c0, %c2, %c1, %none, %none, %none, %none) : (!torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[2],si64>
  %list4 = "torch.prim.ListConstruct"(%c1, %cm1, %c1, %c1, %c1) : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v1 = "torch.aten.view"(%i1, %list4) : (!torch.vtensor<[2],si64>, !torch.list<int>) -> !torch.vtensor<[1,2,1,1,1],si64>
  %m1 = "torch.aten.eq.Scalar"(%v1, %c1) : (!torch.vtensor<[1,2,1,1,1],si64>, !torch.int) -> !torch.vtensor<[1,2,1,1,1],i1>
  %u1 = "torch.aten.unsqueeze"(%w1, %c1) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,1,3,4,8],bf16>
  %list5 = "torch.prim.ListConstruct"(%c6, %c2, %c3, %c4, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %e1 = "torch.aten.expand"(%u1, %list5, %false) : (!torch.vtensor<[6,1,3,4,8],bf16>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %p1 = "torch.aten.where.self"(%m1, %e1, %p0) : (!torch.vtensor<[1,2,1,1,1],i1>, !torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,2,3,4,8],bf16>) -> !torch.vtensor<[6,2,3,4,8],bf16>
  return %p1 : !torch.vtensor<[6,2,3,4,8],bf16>
}

// -----

// The same where K and V were the inputs and torch.compile made their base the
// input.

// CHECK-LABEL: func.func @as_strided(
// CHECK-SAME:    %[[POOL:[^:]+]]: tensor<6x2x3x4x8xbf16>
// CHECK-NEXT:    %[[K:.+]] = tensor.extract_slice %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
// CHECK-NEXT:    %[[K1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[K]] :
// CHECK-NEXT:    %[[POOL1:.+]] = tensor.insert_slice %[[K1]] into %[[POOL]][0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V:.+]] = tensor.extract_slice %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    %[[V1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[V]] :
// CHECK-NEXT:    %[[POOL2:.+]] = tensor.insert_slice %[[V1]] into %[[POOL1]][0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1]
// CHECK-NEXT:    return %[[POOL2]]
func.func @as_strided(%pool: !torch.vtensor<[6,2,3,4,8],bf16>, %page: !torch.vtensor<[5],si64>, %offset: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,3,8],bf16>, %v: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[6,2,3,4,8],bf16> {
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %c192 = "torch.constant.int"() <{value = 192 : i64}> : () -> !torch.int
  %c32 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c96 = "torch.constant.int"() <{value = 96 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c6, %c3, %c4, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list1 = "torch.prim.ListConstruct"(%c192, %c32, %c8, %c1) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %s0 = "torch.aten.as_strided"(%pool, %list0, %list1, %c0) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.list<int>, !torch.list<int>, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %w0 = "torch.aten.index_put"(%s0, %list2, %k, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %list3 = "torch.prim.ListConstruct"(%c6, %c3, %c4, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list4 = "torch.prim.ListConstruct"(%c192, %c32, %c8, %c1) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %p0 = "torch.aten.as_strided_scatter"(%pool, %w0, %list3, %list4, %c0) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.list<int>, !torch.list<int>, !torch.int) -> !torch.vtensor<[6,2,3,4,8],bf16>
  %list5 = "torch.prim.ListConstruct"(%c6, %c3, %c4, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list6 = "torch.prim.ListConstruct"(%c192, %c32, %c8, %c1) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %s1 = "torch.aten.as_strided"(%p0, %list5, %list6, %c96) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.list<int>, !torch.list<int>, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list7 = "torch.prim.ListConstruct"(%page, %none, %offset) : (!torch.vtensor<[5],si64>, !torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %w1 = "torch.aten.index_put"(%s1, %list7, %v, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %list8 = "torch.prim.ListConstruct"(%c6, %c3, %c4, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list9 = "torch.prim.ListConstruct"(%c192, %c32, %c8, %c1) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %p1 = "torch.aten.as_strided_scatter"(%p0, %w1, %list8, %list9, %c96) : (!torch.vtensor<[6,2,3,4,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.list<int>, !torch.list<int>, !torch.int) -> !torch.vtensor<[6,2,3,4,8],bf16>
  return %p1 : !torch.vtensor<[6,2,3,4,8],bf16>
}

// -----

// Two selects are one slice, and its flat view the pair of page and offset. Both
// scatters are one insert.

// CHECK: #[[$FLAT:.+]] = affine_map<(d0, d1, d2) -> (d1 floordiv 4, d1 mod 4, d2)>
// CHECK-LABEL: func.func @layer_of_pool(
// CHECK-SAME:    %[[POOL:[^:]+]]: tensor<2x7x6x4x8xbf16>
// CHECK-NEXT:    %[[K:.+]] = tensor.extract_slice %[[POOL]][1, 3, 0, 0, 0] [1, 1, 6, 4, 8] [1, 1, 1, 1, 1] : tensor<2x7x6x4x8xbf16> to tensor<6x4x8xbf16>
// CHECK-NEXT:    %[[K1:.+]] = kv.write at(%{{.+}} : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put %{{.+}} : tensor<5x8xbf16> into %[[K]] : tensor<6x4x8xbf16> map(#[[$FLAT]])
// CHECK-NEXT:    %[[POOL1:.+]] = tensor.insert_slice %[[K1]] into %[[POOL]][1, 3, 0, 0, 0] [1, 1, 6, 4, 8]
// CHECK-NEXT:    return %[[POOL1]]
func.func @layer_of_pool(%pool: !torch.vtensor<[2,7,6,4,8],bf16>, %slots: !torch.vtensor<[5],si64>, %k: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[2,7,6,4,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %0 = "torch.aten.select.int"(%pool, %c0, %c1) : (!torch.vtensor<[2,7,6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[7,6,4,8],bf16>
  %1 = "torch.aten.select.int"(%0, %c0, %c3) : (!torch.vtensor<[7,6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,4,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%c24, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %2 = "torch.aten.view"(%1, %list0) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[24,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %3 = "torch.aten.index_put"(%2, %list1, %k, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%c6, %c4, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %4 = "torch.aten.view"(%3, %list2) : (!torch.vtensor<[24,8],bf16>, !torch.list<int>) -> !torch.vtensor<[6,4,8],bf16>
  %5 = "torch.aten.select.int"(%pool, %c0, %c1) : (!torch.vtensor<[2,7,6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[7,6,4,8],bf16>
  %6 = "torch.aten.select_scatter"(%5, %4, %c0, %c3) : (!torch.vtensor<[7,6,4,8],bf16>, !torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[7,6,4,8],bf16>
  %7 = "torch.aten.select_scatter"(%pool, %6, %c0, %c1) : (!torch.vtensor<[2,7,6,4,8],bf16>, !torch.vtensor<[7,6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[2,7,6,4,8],bf16>
  return %7 : !torch.vtensor<[2,7,6,4,8],bf16>
}

// -----

// Two boxes of columns of a row. A slice of everything is none.

// CHECK-LABEL: func.func @columns(
// CHECK-SAME:    %[[CACHE:[^:]+]]: tensor<?x16xbf16>
// CHECK:         %[[N:.+]] = tensor.dim %[[CACHE]], %c0
// CHECK-NEXT:    %[[A:.+]] = tensor.extract_slice %[[CACHE]][0, 0] [%[[N]], 12] [1, 1] : tensor<?x16xbf16> to tensor<?x12xbf16>
// CHECK-NEXT:    %[[A1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[A]] :
// CHECK:         %[[CACHE1:.+]] = tensor.insert_slice %[[A1]] into %[[CACHE]][0, 0] [%{{.+}}, 12]
// CHECK:         %[[B:.+]] = tensor.extract_slice %[[CACHE1]][0, 12] [%{{.+}}, 4]
// CHECK-NEXT:    %[[B1:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} into %[[B]] :
// CHECK:         %[[CACHE2:.+]] = tensor.insert_slice %[[B1]] into %[[CACHE1]][0, 12]
// CHECK-NEXT:    return %[[CACHE2]]
func.func @columns(%cache: !torch.vtensor<[?,16],bf16>, %slots: !torch.vtensor<[5],si64>, %latent: !torch.vtensor<[5,12],bf16>, %rope: !torch.vtensor<[5,4],bf16>) -> !torch.vtensor<[?,16],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c9223372036854775807 = "torch.constant.int"() <{value = 9223372036854775807 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %c12 = "torch.constant.int"() <{value = 12 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %cm4 = "torch.constant.int"() <{value = -4 : i64}> : () -> !torch.int
  %0 = "torch.aten.slice.Tensor"(%cache, %c0, %c0, %c9223372036854775807, %c1) : (!torch.vtensor<[?,16],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[?,16],bf16>
  %1 = "torch.aten.slice.Tensor"(%0, %c1, %none, %c12, %c1) : (!torch.vtensor<[?,16],bf16>, !torch.int, !torch.none, !torch.int, !torch.int) -> !torch.vtensor<[?,12],bf16>
  %list0 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %2 = "torch.aten.index_put"(%1, %list0, %latent, %false) : (!torch.vtensor<[?,12],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,12],bf16>, !torch.bool) -> !torch.vtensor<[?,12],bf16>
  %3 = "torch.aten.slice_scatter"(%0, %2, %c1, %none, %c12, %c1) : (!torch.vtensor<[?,16],bf16>, !torch.vtensor<[?,12],bf16>, !torch.int, !torch.none, !torch.int, !torch.int) -> !torch.vtensor<[?,16],bf16>
  %4 = "torch.aten.slice_scatter"(%cache, %3, %c0, %c0, %c9223372036854775807, %c1) : (!torch.vtensor<[?,16],bf16>, !torch.vtensor<[?,16],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[?,16],bf16>
  %5 = "torch.aten.narrow"(%4, %c1, %c12, %c4) : (!torch.vtensor<[?,16],bf16>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[?,4],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %6 = "torch.aten.index_put"(%5, %list1, %rope, %false) : (!torch.vtensor<[?,4],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,4],bf16>, !torch.bool) -> !torch.vtensor<[?,4],bf16>
  %7 = "torch.aten.slice_scatter"(%4, %6, %c1, %cm4, %none, %c1) : (!torch.vtensor<[?,16],bf16>, !torch.vtensor<[?,4],bf16>, !torch.int, !torch.int, !torch.none, !torch.int) -> !torch.vtensor<[?,16],bf16>
  return %7 : !torch.vtensor<[?,16],bf16>
}

// -----

// An fp8 cache seen as bytes: the rows change their type, not the cache.

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME:    %[[CACHE:[^:]+]]: tensor<6x4x8xf8E4M3FN>
// CHECK-NEXT:    %[[ROWS:.+]] = arith.bitcast %{{.+}} : tensor<5x8xi8> to tensor<5x8xf8E4M3FN>
// CHECK-NEXT:    %[[NEW:.+]] = kv.write
// CHECK-NEXT:      put %[[ROWS]] : tensor<5x8xf8E4M3FN> into %[[CACHE]]
// CHECK-NEXT:    return %[[NEW]]
func.func @bytes(%cache: !torch.vtensor<[6,4,8],f8E4M3FN>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,8],ui8>) -> !torch.vtensor<[6,4,8],f8E4M3FN> {
  %cm1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%cm1, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.view"(%cache, %list0) : (!torch.vtensor<[6,4,8],f8E4M3FN>, !torch.list<int>) -> !torch.vtensor<[24,8],f8E4M3FN>
  %1 = "torch.aten.view.dtype"(%0, %c0) : (!torch.vtensor<[24,8],f8E4M3FN>, !torch.int) -> !torch.vtensor<[24,8],ui8>
  %2 = "torch.aten.detach"(%1) : (!torch.vtensor<[24,8],ui8>) -> !torch.vtensor<[24,8],ui8>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %3 = "torch.aten.index_put"(%2, %list1, %rows, %false) : (!torch.vtensor<[24,8],ui8>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],ui8>, !torch.bool) -> !torch.vtensor<[24,8],ui8>
  %4 = "torch.aten.view.dtype"(%3, %c24) : (!torch.vtensor<[24,8],ui8>, !torch.int) -> !torch.vtensor<[24,8],f8E4M3FN>
  %5 = "torch.aten.detach"(%4) : (!torch.vtensor<[24,8],f8E4M3FN>) -> !torch.vtensor<[24,8],f8E4M3FN>
  %list2 = "torch.prim.ListConstruct"(%c6, %c4, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %6 = "torch.aten.view"(%5, %list2) : (!torch.vtensor<[24,8],f8E4M3FN>, !torch.list<int>) -> !torch.vtensor<[6,4,8],f8E4M3FN>
  return %6 : !torch.vtensor<[6,4,8],f8E4M3FN>
}

// -----

// Rows of [H * D] of a cache of [B, P, H, D] are split, so that heads and columns
// are row coordinates.

// CHECK: #[[$ROWS:.+]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 4, d1 mod 4, d2, d3)>
// CHECK-LABEL: func.func @merged_rows(
// CHECK:         %[[ROWS:.+]] = tensor.expand_shape %{{.+}} {{\[\[}}0], [1, 2]] output_shape [%{{.+}}, 3, 8] : tensor<?x24xbf16> into tensor<?x3x8xbf16>
// CHECK:           put %[[ROWS]] : tensor<?x3x8xbf16> into %{{.+}} : tensor<?x4x3x8xbf16> map(#[[$ROWS]])
func.func @merged_rows(%cache: !torch.vtensor<[?,4,3,8],bf16>, %slots: !torch.vtensor<[?],si64>, %rows: !torch.vtensor<[?,24],bf16>) -> !torch.vtensor<[?,4,3,8],bf16> {
  %cm1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %c24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%cm1, %c24) : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.view"(%cache, %list0) : (!torch.vtensor<[?,4,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[?,24],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[?,24],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,24],bf16>, !torch.bool) -> !torch.vtensor<[?,24],bf16>
  %list2 = "torch.prim.ListConstruct"(%cm1, %c4, %c3, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %2 = "torch.aten.view"(%1, %list2) : (!torch.vtensor<[?,24],bf16>, !torch.list<int>) -> !torch.vtensor<[?,4,3,8],bf16>
  return %2 : !torch.vtensor<[?,4,3,8],bf16>
}

// -----

// Pages of a flat cache: the offset is a remainder, and so in its page.

// CHECK: #[[$SUM:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1 * 4 + d2, d3, d4)>
// CHECK-LABEL: func.func @pages_of_flat(
// CHECK:           put %{{.+}} into %{{.+}} : tensor<24x3x8xbf16> map(#[[$SUM]])
func.func @pages_of_flat(%cache: !torch.vtensor<[24,3,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[24,3,8],bf16> {
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c6, %c4, %c3, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.view"(%cache, %list0) : (!torch.vtensor<[24,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[6,4,3,8],bf16>
  %p = "torch.aten.floor_divide.Scalar"(%slots, %c4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %o = "torch.aten.remainder.Scalar"(%slots, %c4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %list1 = "torch.prim.ListConstruct"(%p, %o) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,3,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%c24, %c3, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %2 = "torch.aten.view"(%1, %list2) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[24,3,8],bf16>
  return %2 : !torch.vtensor<[24,3,8],bf16>
}

// -----

// A permuted cache is another map. What else takes the permuted result sees the
// new cache through the same view.

// CHECK: #[[$HND:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2, d4)>
// CHECK-LABEL: func.func @permuted(
// CHECK:         %[[NEW:.+]] = kv.write
// CHECK-NEXT:      put %{{.+}} : tensor<5x3x8xbf16> into %{{.+}} : tensor<6x3x4x8xbf16> map(#[[$HND]])
// CHECK-NEXT:    %[[SEEN:.+]] = "torch_c.from_builtin_tensor"(%[[NEW]]) : (tensor<6x3x4x8xbf16>) -> !torch.vtensor<[6,3,4,8],bf16>
// CHECK-NEXT:    %[[NHD:.+]] = "torch.aten.permute"(%[[SEEN]],
// CHECK-NEXT:    %{{.+}} = "test.sum"(%[[NHD]])
// CHECK-NEXT:    return %[[SEEN]]
func.func @permuted(%cache: !torch.vtensor<[6,3,4,8],bf16>, %page: !torch.vtensor<[5],si64>, %offset: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,24],bf16>) -> !torch.vtensor<[6,3,4,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %cm2 = "torch.constant.int"() <{value = -2 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c0, %c2, %c1, %c3) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.permute"(%cache, %list0) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[6,4,3,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%c5, %c3, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v = "torch.aten.view"(%rows, %list1) : (!torch.vtensor<[5,24],bf16>, !torch.list<int>) -> !torch.vtensor<[5,3,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %2 = "torch.aten.index_put"(%0, %list2, %v, %false) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,3,8],bf16>
  %3 = "test.sum"(%2) : (!torch.vtensor<[6,4,3,8],bf16>) -> !torch.vtensor<[5],bf16>
  %5 = "torch.aten.transpose.int"(%2, %c1, %cm2) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  return %5 : !torch.vtensor<[6,3,4,8],bf16>
}

// -----

// A copy into the cache itself is its new version, one into another argument is
// that argument's, in other memory.

// CHECK-LABEL: func.func @copied_to_another(
// CHECK:         %[[NEW:.+]] = kv.write
// CHECK:         %[[SEEN:.+]] = "torch_c.from_builtin_tensor"(%[[NEW]])
// CHECK:         %[[COPY:.+]] = "torch.aten.copy"(%arg1, %[[SEEN]],
// CHECK-NEXT:    return %{{.+}}, %[[COPY]]
func.func @copied_to_another(%cache: !torch.vtensor<[16,8],bf16>, %other: !torch.vtensor<[16,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,8],bf16>) -> (!torch.vtensor<[16,8],bf16>, !torch.vtensor<[16,8],bf16>) {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list0 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  %0 = "torch.aten.index_put"(%cache, %list0, %rows, %false) : (!torch.vtensor<[16,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[16,8],bf16>
  %1 = "torch.aten.copy"(%cache, %0, %false) : (!torch.vtensor<[16,8],bf16>, !torch.vtensor<[16,8],bf16>, !torch.bool) -> !torch.vtensor<[16,8],bf16>
  %2 = "torch.aten.copy"(%other, %1, %false) : (!torch.vtensor<[16,8],bf16>, !torch.vtensor<[16,8],bf16>, !torch.bool) -> !torch.vtensor<[16,8],bf16>
  return %1, %2 : !torch.vtensor<[16,8],bf16>, !torch.vtensor<[16,8],bf16>
}
