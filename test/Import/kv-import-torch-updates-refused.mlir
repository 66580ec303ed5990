// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' --remark-policy=all --remarks-filter=kvfuse | FileCheck %s

// Updates of caches that are no writes of rows, and writes of tensors that are
// no caches. Each is named once: the diagnostics also count.

// A copy to a slice: the innermost scatter is the site. Scatters of a slice of the
// same cache that hold it, and the copy into the input, are not named again.

// CHECK-LABEL: func.func @contiguous(
// CHECK-NOT:     kv.
func.func @contiguous(%k_cache: !torch.vtensor<[3,16,8],bf16>, %v_cache: !torch.vtensor<[3,16,8],bf16>, %start: !torch.int, %k: !torch.vtensor<[2,5,8],bf16>, %v: !torch.vtensor<[3,8],bf16>) -> (!torch.vtensor<[3,16,8],bf16>, !torch.vtensor<[3,16,8],bf16>) {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.slice.Tensor"(%k_cache, %c0, %c0, %c2, %c1) : (!torch.vtensor<[3,16,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,16,8],bf16>
  %1 = "torch.aten.slice.Tensor"(%0, %c1, %c3, %c8, %c1) : (!torch.vtensor<[2,16,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,5,8],bf16>
  %2 = "torch.aten.copy"(%1, %k, %false) : (!torch.vtensor<[2,5,8],bf16>, !torch.vtensor<[2,5,8],bf16>, !torch.bool) -> !torch.vtensor<[2,5,8],bf16>
  // expected-remark @below {{[Analysis] contiguous | Category:kvfuse | Function=contiguous | Reason="copies rows to a slice of the cache: one kernel already", Suggestion="index by a tensor of positions to have it fused with others"}}
  %3 = "torch.aten.slice_scatter"(%0, %2, %c1, %c3, %c8, %c1) : (!torch.vtensor<[2,16,8],bf16>, !torch.vtensor<[2,5,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,16,8],bf16>
  %4 = "torch.aten.slice_scatter"(%k_cache, %3, %c0, %c0, %c2, %c1) : (!torch.vtensor<[3,16,8],bf16>, !torch.vtensor<[2,16,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[3,16,8],bf16>
  %5 = "torch.aten.copy"(%k_cache, %4, %false) : (!torch.vtensor<[3,16,8],bf16>, !torch.vtensor<[3,16,8],bf16>, !torch.bool) -> !torch.vtensor<[3,16,8],bf16>
  // expected-remark @below {{[Analysis] contiguous}}
  %6 = "torch.aten.select_scatter"(%v_cache, %v, %c1, %start) : (!torch.vtensor<[3,16,8],bf16>, !torch.vtensor<[3,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[3,16,8],bf16>
  return %5, %6 : !torch.vtensor<[3,16,8],bf16>, !torch.vtensor<[3,16,8],bf16>
}

// -----

// A loop over the tokens, unrolled, that reads each slot on the host.

// CHECK-LABEL: func.func @host_loop(
// CHECK-NOT:     kv.
func.func @host_loop(%cache: !torch.vtensor<[6,4,8],bf16>, %slots: !torch.vtensor<[2],si64>, %rows: !torch.vtensor<[2,8],bf16>) -> !torch.vtensor<[6,4,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %s0 = "torch.aten.select.int"(%slots, %c0, %c0) : (!torch.vtensor<[2],si64>, !torch.int, !torch.int) -> !torch.vtensor<[],si64>
  %p0 = "torch.aten.floor_divide.Scalar"(%s0, %c4) : (!torch.vtensor<[],si64>, !torch.int) -> !torch.vtensor<[],si64>
  %n0 = "torch.aten.item"(%p0) : (!torch.vtensor<[],si64>) -> !torch.int
  %o0 = "torch.aten.remainder.Scalar"(%s0, %c4) : (!torch.vtensor<[],si64>, !torch.int) -> !torch.vtensor<[],si64>
  %m0 = "torch.aten.Int.Tensor"(%o0) : (!torch.vtensor<[],si64>) -> !torch.int loc("read")
  %r0 = "torch.aten.select.int"(%rows, %c0, %c0) : (!torch.vtensor<[2,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[8],bf16>
  %a0 = "torch.aten.select.int"(%cache, %c0, %n0) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[4,8],bf16>
  // expected-remark @below {{[Analysis] host-loop | Category:kvfuse | Function=host_loop | Cause=loc("read"), Reason="2 parts of a cache are written one by one, at numbers that the host reads from tensors", Suggestion="index by the tensors"}}
  %b0 = "torch.aten.select_scatter"(%a0, %r0, %c0, %m0) : (!torch.vtensor<[4,8],bf16>, !torch.vtensor<[8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[4,8],bf16>
  %d0 = "torch.aten.select_scatter"(%cache, %b0, %c0, %n0) : (!torch.vtensor<[6,4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,4,8],bf16>
  %s1 = "torch.aten.select.int"(%slots, %c0, %c1) : (!torch.vtensor<[2],si64>, !torch.int, !torch.int) -> !torch.vtensor<[],si64>
  %p1 = "torch.aten.floor_divide.Scalar"(%s1, %c4) : (!torch.vtensor<[],si64>, !torch.int) -> !torch.vtensor<[],si64>
  %n1 = "torch.aten.item"(%p1) : (!torch.vtensor<[],si64>) -> !torch.int
  %o1 = "torch.aten.remainder.Scalar"(%s1, %c4) : (!torch.vtensor<[],si64>, !torch.int) -> !torch.vtensor<[],si64>
  %m1 = "torch.aten.Int.Tensor"(%o1) : (!torch.vtensor<[],si64>) -> !torch.int
  %r1 = "torch.aten.select.int"(%rows, %c0, %c1) : (!torch.vtensor<[2,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[8],bf16>
  %a1 = "torch.aten.select.int"(%d0, %c0, %n1) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[4,8],bf16>
  %b1 = "torch.aten.select_scatter"(%a1, %r1, %c0, %m1) : (!torch.vtensor<[4,8],bf16>, !torch.vtensor<[8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[4,8],bf16>
  %d1 = "torch.aten.select_scatter"(%d0, %b1, %c0, %n1) : (!torch.vtensor<[6,4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,4,8],bf16>
  return %d1 : !torch.vtensor<[6,4,8],bf16>
}

// -----

// A page that the host chooses.

// CHECK-LABEL: func.func @host_select(
// CHECK-NOT:     kv.
func.func @host_select(%cache: !torch.vtensor<[6,4,8],bf16>, %page: !torch.vtensor<[],si64>, %offsets: !torch.vtensor<[2],si64>, %rows: !torch.vtensor<[2,8],bf16>) -> !torch.vtensor<[6,4,8],bf16> {
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %n = "torch.aten.item"(%page) : (!torch.vtensor<[],si64>) -> !torch.int
  %n1 = "torch.aten.add.int"(%n, %c1) : (!torch.int, !torch.int) -> !torch.int
  %a = "torch.aten.select.int"(%cache, %c0, %n1) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[4,8],bf16> loc("select")
  %list0 = "torch.prim.ListConstruct"(%offsets) : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark @below {{[Analysis] host-loop | Category:kvfuse | Function=host_select | Cause=loc("select"), Reason="torch.aten.select.int takes a number that the host reads from a tensor", Suggestion="index by the tensor"}}
  %b = "torch.aten.index_put"(%a, %list0, %rows, %false) : (!torch.vtensor<[4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,8],bf16>, !torch.bool) -> !torch.vtensor<[4,8],bf16>
  %c = "torch.aten.select_scatter"(%cache, %b, %c0, %n1) : (!torch.vtensor<[6,4,8],bf16>, !torch.vtensor<[4,8],bf16>, !torch.int, !torch.int) -> !torch.vtensor<[6,4,8],bf16>
  return %c : !torch.vtensor<[6,4,8],bf16>
}

// -----

// A write in each round of a loop of the program.

// CHECK-LABEL: func.func @device_loop(
// CHECK-NOT:     kv.
func.func @device_loop(%cache: !torch.vtensor<[6,8],bf16>, %slots: !torch.vtensor<[2],si64>, %rows: !torch.vtensor<[2,8],bf16>, %n: !torch.int) -> !torch.vtensor<[6,8],bf16> {
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.prim.Loop"(%n, %true, %cache) ({
  ^bb0(%i: !torch.int, %round: !torch.vtensor<[6,8],bf16>):
    %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[2],si64>) -> !torch.list<vtensor>
    // expected-remark @below {{[Analysis] device-loop | Category:kvfuse | Function=device_loop | Cause=loc("loop"), Reason="writes in a loop of the program", Suggestion="write the rows of all tokens at once"}}
    %1 = "torch.aten.index_put"(%round, %list, %rows, %false) : (!torch.vtensor<[6,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[2,8],bf16>, !torch.bool) -> !torch.vtensor<[6,8],bf16>
    "torch.prim.Loop.condition"(%true, %1) : (!torch.bool, !torch.vtensor<[6,8],bf16>) -> ()
  }) : (!torch.int, !torch.bool, !torch.vtensor<[6,8],bf16>) -> !torch.vtensor<[6,8],bf16> loc("loop")
  return %0 : !torch.vtensor<[6,8],bf16>
}

// -----

// A whole new cache: chosen by a mask, put together, summed up with a row that a
// mask has spread, or moved along before one row is written. A sum of other
// tensors is none.

// CHECK-LABEL: func.func @not_a_scatter(
// CHECK-NOT:     kv.
func.func @not_a_scatter(%a: !torch.vtensor<[1,3,16,8],bf16>, %b: !torch.vtensor<[1,3,16,8],bf16>, %c: !torch.vtensor<[1,3,16,8],bf16>, %d: !torch.vtensor<[1,3,16,8],bf16>, %mask: !torch.vtensor<[1,1,16,1],i1>, %row: !torch.vtensor<[1,3,1,8],bf16>, %last: !torch.vtensor<[1],si64>) -> (!torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,9,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,1,8],bf16>) {
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c16 = "torch.constant.int"() <{value = 16 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %cm9 = "torch.constant.int"() <{value = -9 : i64}> : () -> !torch.int
  %c9223372036854775807 = "torch.constant.int"() <{value = 9223372036854775807 : i64}> : () -> !torch.int
  %c15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %cm1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %list0 = "torch.prim.ListConstruct"(%c1, %c3, %c16, %c8) : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %e = "torch.aten.expand"(%row, %list0, %false) : (!torch.vtensor<[1,3,1,8],bf16>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[1,3,16,8],bf16>
  // expected-remark @below {{[Analysis] not-a-scatter | Category:kvfuse | Function=not_a_scatter | Reason="torch.aten.where.self makes all of the cache anew", Suggestion="write the new rows with index_put"}}
  %0 = "torch.aten.where.self"(%mask, %e, %a) : (!torch.vtensor<[1,1,16,1],i1>, !torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>) -> !torch.vtensor<[1,3,16,8],bf16>
  %l = "torch.prim.ListConstruct"(%b, %row) : (!torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,1,8],bf16>) -> !torch.list<vtensor>
  // expected-remark-re @below {{[Analysis] not-a-scatter {{.*}}Reason="torch.aten.cat makes all of the cache anew"{{.*}}}}
  %1 = "torch.aten.cat"(%l, %c2) : (!torch.list<vtensor>, !torch.int) -> !torch.vtensor<[1,3,17,8],bf16>
  %2 = "torch.aten.slice.Tensor"(%1, %c2, %cm9, %c9223372036854775807, %c1) : (!torch.vtensor<[1,3,17,8],bf16>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[1,3,9,8],bf16>
  %h = "torch.aten.to.dtype"(%mask, %c15, %false, %false, %none) : (!torch.vtensor<[1,1,16,1],i1>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[1,1,16,1],bf16>
  %m = "torch.aten.mul.Tensor"(%h, %row) : (!torch.vtensor<[1,1,16,1],bf16>, !torch.vtensor<[1,3,1,8],bf16>) -> !torch.vtensor<[1,3,16,8],bf16>
  // expected-remark @below {{not-a-scatter}}
  %3 = "torch.aten.add.Tensor"(%c, %m, %c1) : (!torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.int) -> !torch.vtensor<[1,3,16,8],bf16>
  %4 = "torch.aten.copy"(%c, %3, %false) : (!torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.bool) -> !torch.vtensor<[1,3,16,8],bf16>
  %list1 = "torch.prim.ListConstruct"(%cm1) : (!torch.int) -> !torch.list<int>
  %list2 = "torch.prim.ListConstruct"(%c2) : (!torch.int) -> !torch.list<int>
  %5 = "torch.aten.roll"(%d, %list1, %list2) : (!torch.vtensor<[1,3,16,8],bf16>, !torch.list<int>, !torch.list<int>) -> !torch.vtensor<[1,3,16,8],bf16> loc("roll")
  %list3 = "torch.prim.ListConstruct"(%c3, %c1, %c8) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v = "torch.aten.view"(%row, %list3) : (!torch.vtensor<[1,3,1,8],bf16>, !torch.list<int>) -> !torch.vtensor<[3,1,8],bf16>
  %list4 = "torch.prim.ListConstruct"(%none, %none, %last) : (!torch.none, !torch.none, !torch.vtensor<[1],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark @below {{[Analysis] not-a-scatter | Category:kvfuse | Function=not_a_scatter | Cause=loc("roll"), Reason="writes a tensor that torch.aten.roll has made", Suggestion="write the cache itself"}}
  %6 = "torch.aten.index_put"(%5, %list4, %v, %false) : (!torch.vtensor<[1,3,16,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,1,8],bf16>, !torch.bool) -> !torch.vtensor<[1,3,16,8],bf16>
  %7 = "torch.aten.copy"(%d, %6, %false) : (!torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.bool) -> !torch.vtensor<[1,3,16,8],bf16>
  %8 = "torch.aten.add.Tensor"(%row, %row, %c1) : (!torch.vtensor<[1,3,1,8],bf16>, !torch.vtensor<[1,3,1,8],bf16>, !torch.int) -> !torch.vtensor<[1,3,1,8],bf16>
  return %0, %2, %4, %7, %8 : !torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,9,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,16,8],bf16>, !torch.vtensor<[1,3,1,8],bf16>
}

// -----

// A conversion of a cache, and a tensor of zeros, are other tensors.

// CHECK-LABEL: func.func @copies(
// CHECK-NOT:     kv.
func.func @copies(%cache: !torch.vtensor<[8,16],f32>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> (!torch.vtensor<[8,16],bf16>, !torch.vtensor<[8,16],bf16>) {
  %c15 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %c16 = "torch.constant.int"() <{value = 16 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %0 = "torch.prims.convert_element_type"(%cache, %c15) : (!torch.vtensor<[8,16],f32>, !torch.int) -> !torch.vtensor<[8,16],bf16>
  %list0 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="writes a tensor that torch.prims.convert_element_type has made", Suggestion="write the cache itself"}}
  %1 = "torch.aten.index_put"(%0, %list0, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  %list1 = "torch.prim.ListConstruct"(%c8, %c16) : (!torch.int, !torch.int) -> !torch.list<int>
  %2 = "torch.aten.zeros"(%list1, %none, %none, %none, %none) : (!torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[8,16],bf16>
  %list2 = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="writes a tensor that torch.aten.zeros has made"{{.*}}}}
  %3 = "torch.aten.index_put"(%2, %list2, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %1, %3 : !torch.vtensor<[8,16],bf16>, !torch.vtensor<[8,16],bf16>
}

// -----

// Pages that are read, changed in part and written back.

// CHECK-LABEL: func.func @window_rmw(
// CHECK-NOT:     kv.
func.func @window_rmw(%cache: !torch.vtensor<[6,4,8],bf16>, %pages: !torch.vtensor<[2],si64>, %other: !torch.vtensor<[2],si64>, %mask: !torch.vtensor<[2,4,1],i1>, %rows: !torch.vtensor<[2,4,8],bf16>) -> (!torch.vtensor<[6,4,8],bf16>, !torch.vtensor<[6,4,8],bf16>) {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %0 = "torch.aten.index_select"(%cache, %c0, %pages) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,4,8],bf16> loc("read")
  %1 = "torch.aten.where.self"(%mask, %rows, %0) : (!torch.vtensor<[2,4,1],i1>, !torch.vtensor<[2,4,8],bf16>, !torch.vtensor<[2,4,8],bf16>) -> !torch.vtensor<[2,4,8],bf16>
  %list0 = "torch.prim.ListConstruct"(%pages) : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark @below {{[Missed] window-rmw | Category:kvfuse | Function=window_rmw | Cause=loc("read"), Reason="the rows are computed from the rows that they replace", Suggestion="write new rows only"}}
  %2 = "torch.aten.index_put"(%cache, %list0, %1, %false) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,4,8],bf16>, !torch.bool) -> !torch.vtensor<[6,4,8],bf16>
  %3 = "torch.prim.ListConstruct"(%pages) : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %4 = "torch.aten.index.Tensor"(%cache, %3) : (!torch.vtensor<[6,4,8],bf16>, !torch.list<optional<vtensor>>) -> !torch.vtensor<[2,4,8],bf16>
  %5 = "torch.aten.add.Tensor"(%4, %rows, %c1) : (!torch.vtensor<[2,4,8],bf16>, !torch.vtensor<[2,4,8],bf16>, !torch.int) -> !torch.vtensor<[2,4,8],bf16>
  // expected-remark-re @below {{[Missed] window-rmw {{.*}}}}
  %6 = "torch.aten.index_copy"(%cache, %c0, %pages, %5) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2,4,8],bf16>) -> !torch.vtensor<[6,4,8],bf16>
  return %2, %6 : !torch.vtensor<[6,4,8],bf16>, !torch.vtensor<[6,4,8],bf16>
}

// -----

// Sums under another name.

// CHECK-LABEL: func.func @accumulate(
// CHECK-NOT:     kv.
func.func @accumulate(%cache: !torch.vtensor<[6,4,8],bf16>, %pages: !torch.vtensor<[2],si64>, %rows: !torch.vtensor<[2,4,8],bf16>) -> !torch.vtensor<[6,4,8],bf16> {
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  // expected-remark @below {{[Missed] accumulate | Category:kvfuse | Function=accumulate | Reason="adds the rows to the cache", Suggestion="write with accumulate=False"}}
  %0 = "torch.aten.index_add"(%cache, %c0, %pages, %rows, %c1) : (!torch.vtensor<[6,4,8],bf16>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2,4,8],bf16>, !torch.int) -> !torch.vtensor<[6,4,8],bf16>
  return %0 : !torch.vtensor<[6,4,8],bf16>
}

// -----

// Operations of somebody else that may write an argument: they return nothing, or
// a tensor like it.

// CHECK-LABEL: func.func @opaque(
// CHECK-NOT:     kv.
func.func @opaque(%cache: !torch.vtensor<[6,3,4,8],bf16>, %other: !torch.vtensor<[6,3,4,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,3,8],bf16>) -> (!torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[5],bf16>) {
  // expected-remark @below {{[Analysis] opaque-op | Category:kvfuse | Function=opaque | Reason="torch.vendor.write takes a cache", Suggestion="write the cache by torch's own operations"}}
  "torch.operator"(%cache, %slots, %rows) <{name = "torch.vendor.write"}> : (!torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[5],si64>, !torch.vtensor<[5,3,8],bf16>) -> ()
  // expected-remark-re @below {{[Analysis] opaque-op {{.*}}Reason="torch.vendor.scatter takes a cache"{{.*}}}}
  %0 = "torch.operator"(%other, %slots, %rows) <{name = "torch.vendor.scatter"}> : (!torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[5],si64>, !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[6,3,4,8],bf16>
  %1 = "torch.operator"(%rows, %slots) <{name = "torch.vendor.norm"}> : (!torch.vtensor<[5,3,8],bf16>, !torch.vtensor<[5],si64>) -> !torch.vtensor<[5],bf16>
  return %0, %1 : !torch.vtensor<[6,3,4,8],bf16>, !torch.vtensor<[5],bf16>
}

// -----

// What such an operation has made, or written in place, is not known to be the
// argument: a write of it stays.

// CHECK-LABEL: func.func @after_opaque(
// CHECK:         kv.write
// CHECK:         torch.vendor.write
// CHECK-NOT:     kv.write
// CHECK:         "torch.aten.index_put"
func.func @after_opaque(%cache: !torch.vtensor<[6,8],bf16>, %slots: !torch.vtensor<[5],si64>, %rows: !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[6,8],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[6,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[6,8],bf16>
  // expected-remark @below {{opaque-op}}
  %1 = "torch.operator"(%0, %rows) <{name = "torch.vendor.write"}> : (!torch.vtensor<[6,8],bf16>, !torch.vtensor<[5,8],bf16>) -> !torch.vtensor<[6,8],bf16>
  // expected-remark-re @below {{[Missed] cache-copied {{.*}}Reason="writes a tensor that torch.vendor.write has made"{{.*}}}}
  %2 = "torch.aten.index_put"(%1, %list, %rows, %false) : (!torch.vtensor<[6,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[6,8],bf16>
  return %2 : !torch.vtensor<[6,8],bf16>
}

// -----

// An index that counts up from a constant, also where torch-mlir has indexed the
// dimensions of rows as well.

// CHECK-LABEL: func.func @counted(
// CHECK-NOT:     kv.
func.func @counted(%cache: !torch.vtensor<[1,16,8],bf16>, %other: !torch.vtensor<[16,8],bf16>, %rows: !torch.vtensor<[1,5,8],bf16>, %row: !torch.vtensor<[5,8],bf16>, %slots: !torch.vtensor<[5],si64>) -> (!torch.vtensor<[1,16,8],bf16>, !torch.vtensor<[16,8],bf16>) {
  %c3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %c8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %c1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %cm1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %c0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %i = "torch.aten.arange.start_step"(%c3, %c8, %c1, %none, %none, %none, %none) : (!torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[5],si64>
  %list0 = "torch.prim.ListConstruct"(%none, %i) : (!torch.none, !torch.vtensor<[5],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark @below {{[Analysis] contiguous | Category:kvfuse | Function=counted | Reason="copies rows to a slice of the cache: one kernel already", Suggestion="index by a tensor of positions to have it fused with others"}}
  %0 = "torch.aten.index_put"(%cache, %list0, %rows, %false) : (!torch.vtensor<[1,16,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[1,5,8],bf16>, !torch.bool) -> !torch.vtensor<[1,16,8],bf16>
  %j = "torch.aten.unsqueeze"(%i, %cm1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5,1],si64>
  %k = "torch.aten.arange.start_step"(%c0, %c8, %c1, %none, %none, %none, %none) : (!torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[8],si64>
  %list1 = "torch.prim.ListConstruct"(%j, %k) : (!torch.vtensor<[5,1],si64>, !torch.vtensor<[8],si64>) -> !torch.list<optional<vtensor>>
  // expected-remark @below {{contiguous}}
  %1 = "torch.aten.index_put"(%other, %list1, %row, %false) : (!torch.vtensor<[16,8],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[5,8],bf16>, !torch.bool) -> !torch.vtensor<[16,8],bf16>
  return %0, %1 : !torch.vtensor<[1,16,8],bf16>, !torch.vtensor<[16,8],bf16>
}
