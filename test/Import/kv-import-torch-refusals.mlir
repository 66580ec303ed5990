// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// What is no cache write that kv.write can say stays, and a remark names it.
// The diagnostics also count: one that is not expected fails the test.

// CHECK-LABEL: func.func @accumulate(
// CHECK-NOT:     kv.
// CHECK:         "torch.aten.index_put"
// CHECK:         "torch.aten.index_put"
func.func @accumulate(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>, %flag: !torch.bool) -> !torch.vtensor<[8,16],bf16> {
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  // expected-remark @below {{[Missed] accumulate | Category:kvfuse | Function=accumulate | Reason="adds the rows to the cache", Suggestion="write with accumulate=False"}}
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %true) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  // expected-remark-re @below {{[Missed] accumulate {{.*}}Reason="whether rows are added is no constant"}}
  %1 = "torch.aten.index_put"(%0, %list, %rows, %flag) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %1 : !torch.vtensor<[8,16],bf16>
}

// -----

// CHECK-LABEL: func.func @mask_index(
// CHECK-NOT:     kv.
func.func @mask_index(%cache: !torch.vtensor<[8,16],bf16>, %mask: !torch.vtensor<[8],i1>, %bytes: !torch.vtensor<[8],ui8>, %rows: !torch.vtensor<[?,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%mask) : (!torch.vtensor<[8],i1>) -> !torch.list<vtensor>
  // expected-remark-re @below {{[Analysis] mask-index {{.*}}Reason="dimension 0 is indexed by the mask !torch.vtensor<[8],i1>", Suggestion="index by slot numbers"}}
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  %list1 = "torch.prim.ListConstruct"(%bytes) : (!torch.vtensor<[8],ui8>) -> !torch.list<vtensor>
  // expected-remark @below {{mask-index}}
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %1 : !torch.vtensor<[8,16],bf16>
}

// -----

// CHECK-LABEL: func.func @index_unknown(
// CHECK-NOT:     kv.
func.func @index_unknown(%cache: !torch.vtensor<[8,4,16],bf16>, %given: !torch.list<vtensor>, %slots: !torch.vtensor<[?],si64>, %three: !torch.vtensor<[3],si64>, %four: !torch.vtensor<[4],si64>, %scalar: !torch.vtensor<[],si64>, %i16: !torch.vtensor<[?],si16>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,4,16],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Reason="the list of indices is not put together here"}}
  %0 = "torch.aten.index_put"(%cache, %given, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  %nothing = "torch.prim.ListConstruct"(%none) : (!torch.none) -> !torch.list<vtensor>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="no dimension is indexed"}}
  %1 = "torch.aten.index_put"(%0, %nothing, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  %many = "torch.prim.ListConstruct"(%slots, %slots, %slots, %slots) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="4 indices for a cache of rank 3"}}
  %2 = "torch.aten.index_put"(%1, %many, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  %grid = "torch.prim.ListConstruct"(%three, %four) : (!torch.vtensor<[3],si64>, !torch.vtensor<[4],si64>) -> !torch.list<vtensor>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="index tensors whose shapes do not fit: !torch.vtensor<[3],si64>, !torch.vtensor<[4],si64>", Suggestion="index by tensors of one shape"}}
  %3 = "torch.aten.index_put"(%2, %grid, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  %constant = "torch.prim.ListConstruct"(%scalar, %scalar) : (!torch.vtensor<[],si64>, !torch.vtensor<[],si64>) -> !torch.list<vtensor>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="all index tensors are scalars", Suggestion="index by tensors of rank 1"}}
  %5 = "torch.aten.index_put"(%3, %constant, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  %short = "torch.prim.ListConstruct"(%i16) : (!torch.vtensor<[?],si16>) -> !torch.list<vtensor>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="SX1: dimension 0 is indexed by !torch.vtensor<[?],si16>", Suggestion="index by tensors of int32 or int64"}}
  %6 = "torch.aten.index_put"(%5, %short, %rows, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  return %6 : !torch.vtensor<[8,4,16],bf16>
}

// -----

// Rows that torch would not take either, and tensors of which too little is
// known.

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     kv.
func.func @rows(%cache: !torch.vtensor<[8,4,16],bf16>, %slots: !torch.vtensor<[?],si64>, %wide: !torch.vtensor<[?,4,16],f32>, %long: !torch.vtensor<[?,4,32],bf16>, %deep: !torch.vtensor<[1,?,4,16],bf16>, %unranked: !torch.vtensor<*,bf16>) -> !torch.vtensor<[8,4,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  // expected-remark-re @below {{[Analysis] opaque-op {{.*}}Reason="rows of f32 for a cache of bf16", Suggestion="cast the rows to the element type of the cache"}}
  %0 = "torch.aten.index_put"(%cache, %list, %wide, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,4,16],f32>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="rows of !torch.vtensor<[?,4,32],bf16> where [?, 4, 16] is indexed"}}
  %1 = "torch.aten.index_put"(%0, %list, %long, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,4,32],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  // expected-remark-re @below {{index-unknown {{.*}}Reason="rows of !torch.vtensor<[1,?,4,16],bf16> where [?, 4, 16] is indexed"}}
  %2 = "torch.aten.index_put"(%1, %list, %deep, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[1,?,4,16],bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  // expected-remark-re @below {{opaque-op {{.*}}Reason="takes !torch.vtensor<*,bf16> and !torch.vtensor<[8,4,16],bf16> to !torch.vtensor<[8,4,16],bf16>"}}
  %3 = "torch.aten.index_put"(%2, %list, %unranked, %false) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<*,bf16>, !torch.bool) -> !torch.vtensor<[8,4,16],bf16>
  // expected-remark-re @below {{opaque-op {{.*}}Reason="torch.aten.index_put has 2 operands instead of 4"}}
  %4 = "torch.aten.index_put"(%3, %list) : (!torch.vtensor<[8,4,16],bf16>, !torch.list<vtensor>) -> !torch.vtensor<[8,4,16],bf16>
  return %4 : !torch.vtensor<[8,4,16],bf16>
}

// -----

// Unknown operations that take a cache, before, between and after the writes.
// What takes something else is not named.

// CHECK-LABEL: func.func @opaque(
// CHECK:         "torch.aten.relu"
// CHECK:         kv.write
// CHECK:         kv.write
// CHECK:         "test.attention"
func.func @opaque(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> (!torch.vtensor<[8,16],bf16>, !torch.vtensor<[8,16],bf16>) {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  // expected-remark-re @below {{[Analysis] opaque-op {{.*}}Reason="torch.aten.relu takes a cache"}}
  %old = "torch.aten.relu"(%cache) : (!torch.vtensor<[8,16],bf16>) -> !torch.vtensor<[8,16],bf16>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  %relu = "torch.aten.relu"(%rows) : (!torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[3,16],bf16>
  // expected-remark-re @below {{opaque-op {{.*}}Reason="torch.test.attention takes a cache"}}
  "torch.operator"(%relu, %0) <{name = "torch.test.attention"}> : (!torch.vtensor<[3,16],bf16>, !torch.vtensor<[8,16],bf16>) -> ()
  %1 = "torch.aten.index_put"(%0, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  // expected-remark-re @below {{opaque-op {{.*}}Reason="test.attention takes a cache"}}
  "test.attention"(%1) : (!torch.vtensor<[8,16],bf16>) -> ()
  return %old, %1 : !torch.vtensor<[8,16],bf16>, !torch.vtensor<[8,16],bf16>
}

// -----

// A refused write of a cache that is written elsewhere is named once.

// CHECK-LABEL: func.func @once(
// CHECK:         kv.write
// CHECK:         "torch.aten.index_put"
func.func @once(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  // expected-remark @below {{accumulate}}
  %1 = "torch.aten.index_put"(%0, %list, %rows, %true) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %1 : !torch.vtensor<[8,16],bf16>
}

// -----

// A page size that is no constant: pages and offsets are computed in torch, and
// the write takes them as they are. To ask for a size is not to read the cache.

// CHECK-LABEL: func.func @dynamic_page(
// CHECK:         "torch.aten.size.int"{{.*}} {kv.new_results}
// CHECK:         %[[PAGE:.*]] = "torch.aten.floor_divide.Scalar"
// CHECK:         %[[PAGES:.*]] = "torch_c.to_builtin_tensor"(%[[PAGE]])
// CHECK:         kv.write at(%[[PAGES]], %{{.*}} : tensor<3xi64>, tensor<3xi64>)
func.func @dynamic_page(%cache: !torch.vtensor<[8,?,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[8,?,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %size = "torch.aten.size.int"(%cache, %int1) : (!torch.vtensor<[8,?,16],bf16>, !torch.int) -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%slots, %size) : (!torch.vtensor<[3],si64>, !torch.int) -> !torch.vtensor<[3],si64> loc("division")
  %offset = "torch.aten.remainder.Scalar"(%slots, %size) : (!torch.vtensor<[3],si64>, !torch.int) -> !torch.vtensor<[3],si64>
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  // expected-remark @below {{[Missed] dynamic-page | Category:kvfuse | Function=dynamic_page | Cause=loc("division"), Reason="the divisor of torch.aten.floor_divide.Scalar is no constant", Suggestion="export with a static page size"}}
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,?,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,?,16],bf16>
  return %0 : !torch.vtensor<[8,?,16],bf16>
}
