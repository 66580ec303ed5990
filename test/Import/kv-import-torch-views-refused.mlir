// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// Views whose writes are no writes of the cache that kv.write can say: they
// stay, and a remark at the write names the reason and the view. The diagnostics
// also count: one that is not expected fails the test.

// A copy is written, not the cache: by clone to another order of memory, by a
// reshape that cannot be a view (also under the name of one, as torch-mlir
// simplifies it), of a part, of another argument.

// CHECK-LABEL: func.func @cache_copied(
// CHECK-NOT:     kv.
func.func @cache_copied(%cache: !torch.vtensor<[6,3,4,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,3,8],bf16>, %pages: !torch.vtensor<[5,3,4,8],bf16>, %other: !torch.vtensor<[6,3,4,8],bf16>) -> (!torch.vtensor<[24,3,8],bf16>, !torch.vtensor<[24,3,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[3,3,4,8],bf16>, !torch.vtensor<[24,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>) {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %none = "torch.constant.none"() : () -> !torch.none
  %list0 = "torch.prim.ListConstruct"(%c0, %c2, %c1, %c3) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.permute"(%cache, %list0) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[6,4,3,8],bf16>
  %1 = "torch.aten.clone"(%0, %c0) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.int) -> !torch.vtensor<[6,4,3,8],bf16> loc("copy")
  %list1 = "torch.prim.ListConstruct"(%c24, %c3, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %2 = "torch.aten.view"(%1, %list1) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[24,3,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied | Category:kvfuse | Function=cache_copied | Cause=loc("copy"), Reason="torch.aten.clone makes a copy, which is written instead", Suggestion="write a view of the cache"}}
  %3 = "torch.aten.index_put"(%2, %list2, %rows, %false) : (!torch.vtensor<[24,3,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[24,3,8],bf16>
  %list3 = "torch.prim.ListConstruct"(%c24, %c3, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = "torch.aten.reshape"(%0, %list3) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[24,3,8],bf16>
  %list4 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="torch.aten.reshape makes a copy, which is written instead"{{.*}}}}
  %4 = "torch.aten.index_put"(%r, %list4, %rows, %false) : (!torch.vtensor<[24,3,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[24,3,8],bf16>
  %t = "torch.aten.clone"(%cache, %c0) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,3,4,8],bf16>
  %list5 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="torch.aten.clone makes a copy, which is written instead"{{.*}}}}
  %5 = "torch.aten.index_put"(%t, %list5, %pages, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,4,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %s = "torch.aten.slice.Tensor"(%cache, %c0, %c0, %c3, %c1) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[3,3,4,8],bf16>
  %d = "torch.aten.clone"(%s, %none) : (!torch.vtensor<[3,3,4,8],bf16>, !torch.none) -> !torch.vtensor<[3,3,4,8],bf16>
  %list6 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="torch.aten.clone makes a copy, which is written instead"{{.*}}}}
  %6 = "torch.aten.index_put"(%d, %list6, %pages, %false) : (!torch.vtensor<[3,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,4,8],bf16>, !torch.bool) -> !torch.vtensor<[3,3,4,8],bf16>
  %k = "torch.aten.select.int"(%cache, %c1, %c0) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,4,8],bf16>
  %list7 = "torch.prim.ListConstruct"(%c24, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %f = "torch.aten.view"(%k, %list7) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[24,8],bf16>
  %h = "torch.aten.select.int"(%rows, %c1, %c0) : (!torch.vtensor<[5,3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[5,8],bf16>
  %list8 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="torch.aten.view makes a copy, which is written instead"{{.*}}}}
  %7 = "torch.aten.index_put"(%f, %list8, %h, %false) : (!torch.vtensor<[24,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[24,8],bf16>
  %x = "torch.aten.copy"(%cache, %other, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  %list9 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="torch.aten.copy makes a copy, which is written instead"{{.*}}}}
  %8 = "torch.aten.index_put"(%x, %list9, %pages, %false) : (!torch.vtensor<[6,3,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,4,8],bf16>, !torch.bool) -> !torch.vtensor<[6,3,4,8],bf16>
  return %3, %4, %5, %6, %7, %8 : !torch.vtensor<[24,3,8],bf16>, !torch.vtensor<[24,3,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[3,3,4,8],bf16>, !torch.vtensor<[24,8],bf16>, !torch.vtensor<[6,3,4,8],bf16>
}

// -----

// Rows that are one row in memory.

// CHECK-LABEL: func.func @overlap(
// CHECK-NOT:     kv.
func.func @overlap(%row: !torch.vtensor<[1,8],bf16>, %slots: !torch.vtensor<[2],si64>, %rows: !torch.vtensor<[2,8],bf16>) -> !torch.vtensor<[4,8],bf16> {
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list0 = "torch.prim.ListConstruct"(%c4, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.expand"(%row, %list0, %false) : (!torch.vtensor<[1,8],bf16>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[4,8],bf16> loc("repeats")
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] overlap {{.*}}Cause=loc("repeats"), Reason="elements of !torch.vtensor<[1,8],bf16> are repeated by torch.aten.expand", Suggestion="write the tensor before it is expanded"}}
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,8],bf16>, !torch.bool) -> !torch.vtensor<[4,8],bf16>
  return %1 : !torch.vtensor<[4,8],bf16>
}

// -----

// SC5: elements that are several of the cache's.

// CHECK-LABEL: func.func @encoding_unknown(
// CHECK-NOT:     kv.
func.func @encoding_unknown(%cache: !torch.vtensor<[16,8],ui8>, %slots: !torch.vtensor<[2],si64>, %rows: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[16,2],f32> {
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.view.dtype"(%cache, %c6) : (!torch.vtensor<[16,8],ui8>, !torch.int) -> !torch.vtensor<[16,2],f32> loc("wider")
  %list0 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] encoding-unknown {{.*}}Cause=loc("wider"), Reason="a cache of ui8 is written as f32", Suggestion="write elements of the cache's width"}}
  %1 = "torch.aten.index_put"(%0, %list0, %rows, %false) : (!torch.vtensor<[16,2],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,2],f32>, !torch.bool) -> !torch.vtensor<[16,2],f32>
  return %1 : !torch.vtensor<[16,2],f32>
}

// -----

// An offset of -1 or 4 would go to another page than in torch.

// CHECK-LABEL: func.func @carry(
// CHECK-NOT:     kv.
func.func @carry(%cache: !torch.vtensor<[24,3,8],bf16>, %page: !torch.vtensor<[5],si64>, %offset: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,3,8],bf16>) -> (!torch.vtensor<[6,4,3,8],bf16>, !torch.vtensor<[6,4,3,8],bf16>) {
  %c6 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c6, %c4, %c3, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.view"(%cache, %list0) : (!torch.vtensor<[24,3,8],bf16>, !torch.list<int>) -> !torch.vtensor<[6,4,3,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Reason="SX4: dimension 1 of the view is an inner one of the cache, and its index is not known to be in [0, 4)", Suggestion="index the cache by its own dimensions"}}
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,3,8],bf16>
  %5 = "torch.aten.remainder.Scalar"(%offset, %c5) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %list2 = "torch.prim.ListConstruct"(%page, %5) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}[0, 4)", {{.*}}}}
  %2 = "torch.aten.index_put"(%0, %list2, %rows, %false) : (!torch.vtensor<[6,4,3,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,3,8],bf16>
  return %1, %2 : !torch.vtensor<[6,4,3,8],bf16>, !torch.vtensor<[6,4,3,8],bf16>
}

// -----

// A page size that is not known is no divisor (SX2).

// CHECK-LABEL: func.func @dynamic_page(
// CHECK-NOT:     kv.
func.func @dynamic_page(%cache: !torch.vtensor<[6,?,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,8],bf16>, %n: !torch.int) -> !torch.vtensor<[?,8],bf16> {
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list0 = "torch.prim.ListConstruct"(%n, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.view"(%cache, %list0) : (!torch.vtensor<[6,?,8],bf16>, !torch.list<int>) -> !torch.vtensor<[?,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Reason="an inner size of the cache's dimension 0 is dynamic", Suggestion="export with a static page size"}}
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[?,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[?,8],bf16>
  return %1 : !torch.vtensor<[?,8],bf16>
}

// -----

// Slices that are no boxes: rows across pages, a number that is no constant,
// steps, and a shape that is no regrouping of factors.

// CHECK-LABEL: func.func @no_box(
// CHECK-NOT:     kv.
func.func @no_box(%cache: !torch.vtensor<[6,4,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,8],bf16>, %i: !torch.int) -> (!torch.vtensor<[20,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.vtensor<[12,8],bf16>, !torch.vtensor<[16,8],bf16>) {
  %c24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c22 = "torch.constant.int"() <{value = 22 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c12 = "torch.constant.int"() <{value = 12 : i64}> : () -> !torch.int
  %c16 = "torch.constant.int"() <{value = 16 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c24, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = "torch.aten.view"(%cache, %list0) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[24,8],bf16>
  %1 = "torch.aten.slice.Tensor"(%0, %c0, %c2, %c22, %c1) : (!torch.vtensor<[24,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[20,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Cause={{.*}}Reason="torch.aten.slice.Tensor is no box of the cache with constant bounds", Suggestion="slice whole dimensions of the cache by constants"}}
  %2 = "torch.aten.index_put"(%1, %list1, %rows, %false) : (!torch.vtensor<[20,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[20,8],bf16>
  %3 = "torch.aten.select.int"(%cache, %c0, %i) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[4,8],bf16>
  %list2 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Reason="torch.aten.select.int is no box of the cache with constant bounds", {{.*}}}}
  %4 = "torch.aten.index_put"(%3, %list2, %rows, %false) : (!torch.vtensor<[4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[4,8],bf16>
  %5 = "torch.aten.slice.Tensor"(%cache, %c1, %c0, %c4, %c2) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[6,2,8],bf16>
  %list3 = "torch.prim.ListConstruct"(%c12, %c8) : (!torch.int, !torch.int) -> !torch.list<int>
  %6 = "torch.aten.view"(%5, %list3) : (!torch.vtensor<[6,2,8],bf16>, !torch.list<int>) -> !torch.vtensor<[12,8],bf16>
  %list4 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Reason="torch.aten.slice.Tensor is no box of the cache with constant bounds", {{.*}}}}
  %7 = "torch.aten.index_put"(%6, %list4, %rows, %false) : (!torch.vtensor<[12,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[12,8],bf16>
  %list5 = "torch.prim.ListConstruct"(%c16, %c12) : (!torch.int, !torch.int) -> !torch.list<int>
  %8 = "torch.aten.view"(%cache, %list5) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<int>) -> !torch.vtensor<[16,12],bf16> loc("regroups")
  %9 = "torch.aten.slice.Tensor"(%8, %c1, %c0, %c8, %c1) : (!torch.vtensor<[16,12],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[16,8],bf16>
  %list6 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] index-unknown {{.*}}Cause=loc("regroups"), Reason="torch.aten.view of !torch.vtensor<[6,4,8],bf16> to !torch.vtensor<[16,12],bf16> is not made of factors of the dimensions", Suggestion="give the cache the shape that is written"}}
  %10 = "torch.aten.index_put"(%9, %list6, %rows, %false) : (!torch.vtensor<[16,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[16,8],bf16>
  return %2, %4, %7, %10 : !torch.vtensor<[20,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.vtensor<[12,8],bf16>, !torch.vtensor<[16,8],bf16>
}

// -----

// A slice that is written is a tensor of its own until it is put back.

// CHECK-LABEL: func.func @thrown_away(
// CHECK-NOT:     kv.
func.func @thrown_away(%pool: !torch.vtensor<[2,6,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[6,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.select.int"(%pool, %c0, %c0) : (!torch.vtensor<[2,6,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark @below {{[Missed] cache-copied | Category:kvfuse | Function=thrown_away | Reason="writes a copy of a slice: nothing puts it back into the cache", Suggestion="put the slice back, or write the cache itself"}}
  %1 = "torch.aten.index_put"(%0, %list0, %rows, %false) : (!torch.vtensor<[6,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[6,8],bf16>
  return %1 : !torch.vtensor<[6,8],bf16>
}
