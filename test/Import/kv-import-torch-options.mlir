// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{torch-version=2.11})' | FileCheck %s --check-prefix=T211
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{negative=error out-of-bounds=skip})' | FileCheck %s --check-prefix=ERROR
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{negative=undefined out-of-bounds=undefined})' | FileCheck %s --check-prefix=UNDEF
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{negative=skip})' | FileCheck %s --check-prefix=SKIP
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{reserved-slot=-1})' | FileCheck %s --check-prefix=RESERVED
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{negative=skip reserved-slot=-2})' | FileCheck %s --check-prefix=BOTH

// RUN: not kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{torch-version=2.12})' 2>&1 | FileCheck %s --check-prefix=BAD-VERSION
// RUN: not kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{negative=drop})' 2>&1 | FileCheck %s --check-prefix=BAD-NEGATIVE
// RUN: not kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{out-of-bounds=error})' 2>&1 | FileCheck %s --check-prefix=BAD-BOUNDS
// RUN: not kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{reserved-slot=x})' 2>&1 | FileCheck %s --check-prefix=BAD-SLOT
// RUN: not kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-import-torch{mutates=0,,1})' 2>&1 | FileCheck %s --check-prefix=BAD-MUTATES

// BAD-VERSION:  error: torch-version: expected 2.11 or 2.13, but got '2.12'
// BAD-NEGATIVE: error: negative: expected wrap, error, skip or undefined, but got 'drop'
// BAD-BOUNDS:   error: out-of-bounds: expected trap, skip or undefined, but got 'error'
// BAD-SLOT:     error: reserved-slot: expected an integer, but got 'x'
// BAD-MUTATES:  error: mutates: expected auto or a list of argument numbers such as 0,1,2, but got '0,,1'

// Truncated division of narrow slots, two writes.

// T211-LABEL: func.func @sx3_sx4_trunc(
// T211:         arith.divsi
// T211:         kv.cast %{{.+}} : tensor<?x16xbf16> to tensor<?x16xf8E4M3FN>
// T211:         negative(wrap) out_of_bounds(trap)

// ERROR-LABEL: func.func @sx3_sx4_trunc(
// ERROR:         arith.divsi
// ERROR:         arith.remsi
// ERROR-NOT:     mask
// ERROR:         negative(error) out_of_bounds(skip)

// Without negative slots the rounding makes no difference (SX3).
// UNDEF-LABEL: func.func @sx3_sx4_trunc(
// UNDEF-NOT:     arith.divsi
// UNDEF-COUNT-2: kv.apply
// UNDEF-NOT:     mask
// UNDEF:         negative(undefined) out_of_bounds(undefined)

// SX4: the slots are compared as they come, widened, once for both writes.
// SKIP-LABEL: func.func @sx3_sx4_trunc(
// SKIP-SAME:    %[[SLOTS:[^:]+]]: tensor<?xi32>
// SKIP-NOT:     arith.divsi
// SKIP-COUNT-2: kv.apply
// SKIP:         %[[WIDE:.+]] = arith.extsi %[[SLOTS]] : tensor<?xi32> to tensor<?xi64>
// SKIP-NEXT:    %[[C0:.+]] = arith.constant 0 : i64
// SKIP:         %[[ZEROS:.+]] = tensor.splat %[[C0]][%{{.+}}] : tensor<?xi64>
// SKIP-NEXT:    %[[MASK:.+]] = arith.cmpi sge, %[[WIDE]], %[[ZEROS]] : tensor<?xi64>
// SKIP:         kv.write at(%{{.+}}) mask(%[[MASK]] : tensor<?xi1>) negative(undefined) out_of_bounds(trap)
// SKIP-NOT:     cmpi
// SKIP:         kv.write at(%{{.+}}) mask(%[[MASK]] : tensor<?xi1>) negative(undefined) out_of_bounds(trap)

// SX6: the reserved slot alone leaves -2 to wrap, and -2 is divided as torch
// divides it.
// RESERVED-LABEL: func.func @sx3_sx4_trunc(
// RESERVED-SAME:    %[[SLOTS:[^:]+]]: tensor<?xi32>
// RESERVED:         arith.divsi
// RESERVED:         %[[ID:.+]] = arith.constant -1 : i64
// RESERVED:         %[[IDS:.+]] = tensor.splat %[[ID]][%{{.+}}] : tensor<?xi64>
// RESERVED-NEXT:    %[[MASK:.+]] = arith.cmpi ne, %{{.+}}, %[[IDS]] : tensor<?xi64>
// RESERVED-COUNT-2: mask(%[[MASK]] : tensor<?xi1>) negative(wrap) out_of_bounds(trap)

// BOTH-LABEL: func.func @sx3_sx4_trunc(
// BOTH:         %[[SIGN:.+]] = arith.cmpi sge
// BOTH:         %[[USED:.+]] = arith.cmpi ne
// BOTH-NEXT:    %[[MASK:.+]] = arith.andi %[[SIGN]], %[[USED]] : tensor<?xi1>
// BOTH-COUNT-2: mask(%[[MASK]] : tensor<?xi1>) negative(undefined)
func.func @sx3_sx4_trunc(%kc: !torch.vtensor<[?,32,16],f8E4M3FN>, %vc: !torch.vtensor<[?,32,16],f8E4M3FN>, %slots: !torch.vtensor<[?],si32>, %rows: !torch.vtensor<[?,16],bf16>) -> (!torch.vtensor<[?,32,16],f8E4M3FN>, !torch.vtensor<[?,32,16],f8E4M3FN>) {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %int24 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
  %int32 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
  %trunc = "torch.constant.str"() <{value = "trunc"}> : () -> !torch.str
  %page = "torch.aten.div.Scalar_mode"(%slots, %int32, %trunc) : (!torch.vtensor<[?],si32>, !torch.int, !torch.str) -> !torch.vtensor<[?],si32>
  %offset = "torch.aten.fmod.Scalar"(%slots, %int32) : (!torch.vtensor<[?],si32>, !torch.int) -> !torch.vtensor<[?],si32>
  %cast = "torch.prims.convert_element_type"(%rows, %int24) : (!torch.vtensor<[?,16],bf16>, !torch.int) -> !torch.vtensor<[?,16],f8E4M3FN>
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[?],si32>, !torch.vtensor<[?],si32>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%kc, %list, %cast, %false) : (!torch.vtensor<[?,32,16],f8E4M3FN>, !torch.list<vtensor>, !torch.vtensor<[?,16],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,32,16],f8E4M3FN>
  %1 = "torch.aten.index_put.hacked_twin"(%vc, %list, %cast, %false) : (!torch.vtensor<[?,32,16],f8E4M3FN>, !torch.list<vtensor>, !torch.vtensor<[?,16],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,32,16],f8E4M3FN>
  return %0, %1 : !torch.vtensor<[?,32,16],f8E4M3FN>, !torch.vtensor<[?,32,16],f8E4M3FN>
}

// Page and offset that come from two tensors: padding in either one is padding.

// SKIP-LABEL: func.func @sx4_sx6_pair(
// SKIP-SAME:    %[[PAGE:[^:]+]]: tensor<3xi64>, %[[OFFSET:[^:]+]]: tensor<3xi64>
// SKIP:         %[[PAGES:.+]] = arith.cmpi sge, %[[PAGE]],
// SKIP:         %[[OFFSETS:.+]] = arith.cmpi sge, %[[OFFSET]],
// SKIP-NEXT:    %[[MASK:.+]] = arith.andi %[[PAGES]], %[[OFFSETS]] : tensor<3xi1>
// SKIP-COUNT-2: mask(%[[MASK]] : tensor<3xi1>)

// RESERVED-LABEL: func.func @sx4_sx6_pair(
// RESERVED:         arith.constant dense<-1> : tensor<3xi64>
// RESERVED-COUNT-2: arith.cmpi ne
func.func @sx4_sx6_pair(%kc: !torch.vtensor<[8,32,16],bf16>, %vc: !torch.vtensor<[8,32,16],bf16>, %page: !torch.vtensor<[3],si64>, %offset: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>) -> (!torch.vtensor<[8,32,16],bf16>, !torch.vtensor<[8,32,16],bf16>) {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put.hacked_twin"(%kc, %list, %rows, %false) : (!torch.vtensor<[8,32,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,32,16],bf16>
  %1 = "torch.aten.index_put.hacked_twin"(%vc, %list, %rows, %false) : (!torch.vtensor<[8,32,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,32,16],bf16>
  return %0, %1 : !torch.vtensor<[8,32,16],bf16>, !torch.vtensor<[8,32,16],bf16>
}

// A mask is shared only where it dominates.

// SKIP-LABEL: func.func @sx4_regions(
// SKIP:         "torch.prim.If"
// SKIP:         %[[THEN:.+]] = arith.cmpi sge
// SKIP-NEXT:    kv.write at(%{{.+}}) mask(%[[THEN]] :
// SKIP:         %[[ELSE:.+]] = arith.cmpi sge
// SKIP-NEXT:    kv.write at(%{{.+}}) mask(%[[ELSE]] :
func.func @sx4_regions(%cache: !torch.vtensor<[8,16],bf16>, %slots: !torch.vtensor<[3],si64>, %rows: !torch.vtensor<[3,16],bf16>, %condition: !torch.bool) -> !torch.vtensor<[8,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%slots) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %new = "torch.prim.If"(%condition) ({
    %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
    "torch.prim.If.yield"(%0) : (!torch.vtensor<[8,16],bf16>) -> ()
  }, {
    %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,16],bf16>
    "torch.prim.If.yield"(%0) : (!torch.vtensor<[8,16],bf16>) -> ()
  }) : (!torch.bool) -> !torch.vtensor<[8,16],bf16>
  return %new : !torch.vtensor<[8,16],bf16>
}
