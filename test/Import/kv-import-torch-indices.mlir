// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// Index tensors are repeated along each other: sizes of 1 and absent dimensions.

// CHECK: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME:    %[[PAGE:[^:]+]]: tensor<?x1xi64>, %[[HEAD:[^:]+]]: tensor<3xi64>,
// CHECK:         %[[PAGES:.+]] = tensor.collapse_shape %[[PAGE]] {{\[\[}}0, 1]] : tensor<?x1xi64> into tensor<?xi64>
// CHECK:         %[[A:.+]] = linalg.broadcast ins(%[[PAGES]] : tensor<?xi64>) outs(%{{.+}} : tensor<?x3xi64>) dimensions = [1]
// CHECK:         %[[T:.+]] = tensor.dim %[[PAGE]], %c0
// CHECK:         %[[INIT:.+]] = tensor.empty(%[[T]]) : tensor<?x3xi64>
// CHECK:         %[[B:.+]] = linalg.broadcast ins(%[[HEAD]] : tensor<3xi64>) outs(%[[INIT]] : tensor<?x3xi64>) dimensions = [0]
// CHECK:         kv.write at(%[[A]], %[[B]] : tensor<?x3xi64>, tensor<?x3xi64>)
// CHECK-NEXT:      put %{{.+}} : tensor<?x3x16xbf16> into %{{.+}} map(#[[$MAP]]){{$}}
func.func @broadcast(%page: !torch.vtensor<[?,1],si64>, %head: !torch.vtensor<[3],si64>, %cache: !torch.vtensor<[8,3,16],bf16>, %rows: !torch.vtensor<[?,3,16],bf16>) -> !torch.vtensor<[8,3,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%page, %head) : (!torch.vtensor<[?,1],si64>, !torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,3,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,3,16],bf16>
  return %0 : !torch.vtensor<[8,3,16],bf16>
}

// -----

// Sums and products of 64 bits are kv.apply, with torch's factor of the second
// operand; constants may be tensors of one element.

// CHECK-DAG: #[[$ADD:.+]] = affine_map<(d0, d1) -> (d0 + d1 * 3)>
// CHECK-DAG: #[[$SUB:.+]] = affine_map<(d0) -> (d0 - 8)>
// CHECK-DAG: #[[$RSUB:.+]] = affine_map<(d0) -> (-d0 + 5)>
// CHECK-DAG: #[[$MUL:.+]] = affine_map<(d0) -> (d0 * 4)>
// CHECK-DAG: #[[$NEG:.+]] = affine_map<(d0) -> (-d0)>
// CHECK-LABEL: func.func @sums(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<5xi64>, %[[Y:[^:]+]]: tensor<5xi32>,
// CHECK:         %[[WIDE:.+]] = arith.extsi %[[Y]]
// CHECK:         %[[A:.+]] = kv.apply #[[$ADD]](%[[X]], %[[WIDE]])
// CHECK:         %[[B:.+]] = kv.apply #[[$SUB]](%[[A]])
// CHECK:         %[[C:.+]] = kv.apply #[[$RSUB]](%[[B]])
// CHECK:         %[[D:.+]] = kv.apply #[[$MUL]](%[[C]])
// CHECK:         %[[E:.+]] = kv.apply #[[$NEG]](%[[D]])
// CHECK:         kv.write at(%[[E]] : tensor<5xi64>)
// CHECK-NOT:     torch
func.func @sums(%x: !torch.vtensor<[5],si64>, %y: !torch.vtensor<[5],si32>, %cache: !torch.vtensor<[24,16],bf16>, %rows: !torch.vtensor<[5,16],bf16>) -> !torch.vtensor<[24,16],bf16> {
  %four = "torch.vtensor.literal"() <{value = dense<4> : tensor<1xsi64>}> : () -> !torch.vtensor<[1],si64>
  %none = "torch.constant.none"() : () -> !torch.none
  %copy = "torch.aten.clone"(%four, %none) : (!torch.vtensor<[1],si64>, !torch.none) -> !torch.vtensor<[1],si64>
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %a = "torch.aten.add.Tensor"(%x, %y, %int3) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si32>, !torch.int) -> !torch.vtensor<[5],si64>
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %b = "torch.aten.sub.Scalar"(%a, %int4, %int2) : (!torch.vtensor<[5],si64>, !torch.int, !torch.int) -> !torch.vtensor<[5],si64>
  %int5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %c = "torch.aten.rsub.Scalar"(%b, %int5, %int1) : (!torch.vtensor<[5],si64>, !torch.int, !torch.int) -> !torch.vtensor<[5],si64>
  %d = "torch.aten.mul.Tensor"(%c, %copy) : (!torch.vtensor<[5],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[5],si64>
  %e = "torch.aten.neg"(%d) : (!torch.vtensor<[5],si64>) -> !torch.vtensor<[5],si64>
  %list = "torch.prim.ListConstruct"(%e) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  return %0 : !torch.vtensor<[24,16],bf16>
}

// -----

// Arithmetic of 32 bits wraps around in torch, and stays arith operations of 32
// bits: whether it does is for kv-fuse-chains to find out (SX3). What is wider
// here than in torch, a quotient, is narrowed first.

// CHECK-DAG: #[[$DIV:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<5xi32>,
// CHECK-DAG:     %[[WIDE:.+]] = arith.extsi %[[X]] : tensor<5xi32> to tensor<5xi64>
// CHECK:         %[[PAGE:.+]] = kv.apply #[[$DIV]](%[[WIDE]]) : tensor<5xi64>
// CHECK:         %[[NARROW:.+]] = arith.trunci %[[PAGE]] : tensor<5xi64> to tensor<5xi32>
// CHECK:         %[[FOUR:.+]] = arith.constant dense<4> : tensor<5xi32>
// CHECK:         %[[FIRST:.+]] = arith.muli %[[NARROW]], %[[FOUR]] : tensor<5xi32>
// CHECK:         %[[OFFSET:.+]] = arith.subi %[[X]], %[[FIRST]] : tensor<5xi32>
// CHECK:         %[[SEVEN:.+]] = arith.constant dense<7> : tensor<5xi32>
// CHECK:         %[[ROW:.+]] = arith.addi %[[OFFSET]], %[[SEVEN]] : tensor<5xi32>
// CHECK:         kv.write at(%[[ROW]] : tensor<5xi32>)
func.func @narrow(%x: !torch.vtensor<[5],si32>, %cache: !torch.vtensor<[24,16],bf16>, %rows: !torch.vtensor<[5,16],bf16>) -> !torch.vtensor<[24,16],bf16> {
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %page = "torch.aten.floor_divide.Scalar"(%x, %int4) : (!torch.vtensor<[5],si32>, !torch.int) -> !torch.vtensor<[5],si32>
  %first = "torch.aten.mul.Scalar"(%page, %int4) : (!torch.vtensor<[5],si32>, !torch.int) -> !torch.vtensor<[5],si32>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %offset = "torch.aten.sub.Tensor"(%x, %first, %int1) : (!torch.vtensor<[5],si32>, !torch.vtensor<[5],si32>, !torch.int) -> !torch.vtensor<[5],si32>
  %int7 = "torch.constant.int"() <{value = 7 : i64}> : () -> !torch.int
  %row = "torch.aten.add.Scalar"(%offset, %int7, %int1) : (!torch.vtensor<[5],si32>, !torch.int, !torch.int) -> !torch.vtensor<[5],si32>
  %list = "torch.prim.ListConstruct"(%row) : (!torch.vtensor<[5],si32>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  return %0 : !torch.vtensor<[24,16],bf16>
}

// -----

// Masks of bits and shifts, within the width.

// CHECK-LABEL: func.func @bits(
// CHECK:         %[[X:.+]] = "torch_c.to_builtin_tensor"(%{{.+}}) : (!torch.vtensor<[5],si64>)
// CHECK:         %[[OFFSET:.+]] = arith.andi %[[X]], %{{.+}} : tensor<5xi64>
// CHECK:         %[[PAGE:.+]] = arith.shrsi %[[X]], %{{.+}} : tensor<5xi64>
// CHECK:         kv.write at(%[[PAGE]], %[[OFFSET]] : tensor<5xi64>, tensor<5xi64>)
// CHECK:         %[[FIRST:.+]] = arith.shli %[[X]], %{{.+}} : tensor<5xi64>
// CHECK:         kv.write at(%[[FIRST]], %[[OFFSET]]
// CHECK:         %[[FAR:.+]] = "torch.aten.__rshift__.Scalar"
// CHECK:         %[[ROOT:.+]] = "torch_c.to_builtin_tensor"(%[[FAR]])
// CHECK:         kv.write at(%[[ROOT]], %[[OFFSET]]
func.func @bits(%x: !torch.vtensor<[5],si64>, %cache: !torch.vtensor<[6,4,16],bf16>, %rows: !torch.vtensor<[5,16],bf16>) -> !torch.vtensor<[6,4,16],bf16> {
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %offset = "torch.aten.__and__.Scalar"(%x, %int3) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %page = "torch.operator"(%x, %int2) <{name = "torch.aten.bitwise_right_shift.Tensor_Scalar"}> : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[6,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[6,4,16],bf16>
  %first = "torch.aten.__lshift__.Scalar"(%x, %int2) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %list1 = "torch.prim.ListConstruct"(%first, %offset) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[6,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[6,4,16],bf16>
  %int64 = "torch.constant.int"() <{value = 64 : i64}> : () -> !torch.int
  %far = "torch.aten.__rshift__.Scalar"(%x, %int64) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %list2 = "torch.prim.ListConstruct"(%far, %offset) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %2 = "torch.aten.index_put"(%1, %list2, %rows, %false) : (!torch.vtensor<[6,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[6,4,16],bf16>
  return %2 : !torch.vtensor<[6,4,16],bf16>
}

// -----

// Iotas, constants through copies, and repetition: every dimension is indexed,
// as in a pool [K/V, page, head, offset] that is written by index tensors alone.

// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2, d3, d4, d5, d6)>
// CHECK-LABEL: func.func @iotas(
// CHECK:         %[[IOTA:.+]] = tensor.generate {
// CHECK-NEXT:    ^bb0(%[[I:.+]]: index):
// CHECK-NEXT:      %[[INT:.+]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:      tensor.yield %[[INT]] : i64
// CHECK-NEXT:    } : tensor<3xi64>
// CHECK-DAG:     %[[V:.+]] = arith.constant dense<1> : tensor<5x3xi64>
// CHECK-DAG:     %[[PAGE:.+]] = linalg.broadcast ins(%{{.+}} : tensor<5xi64>) outs(%{{.+}} : tensor<5x3xi64>) dimensions = [1]
// CHECK-DAG:     %[[HEAD:.+]] = linalg.broadcast ins(%[[IOTA]] : tensor<3xi64>) outs(%{{.+}} : tensor<5x3xi64>) dimensions = [0]
// CHECK:         kv.write at(%[[V]], %[[PAGE]], %[[HEAD]], %{{.+}} : tensor<5x3xi64>, tensor<5x3xi64>, tensor<5x3xi64>, tensor<5x3xi64>)
// CHECK:           map(#[[$MAP]]){{$}}
func.func @iotas(%slots: !torch.vtensor<[5],si64>, %pool: !torch.vtensor<[2,6,3,4,8],bf16>, %rows: !torch.vtensor<[5,3,8],bf16>) -> !torch.vtensor<[2,6,3,4,8],bf16> {
  %one = "torch.vtensor.literal"() <{value = dense<1> : tensor<1xsi64>}> : () -> !torch.vtensor<[1],si64>
  %part = "torch.aten.lift_fresh_copy"(%one) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %four = "torch.prim.NumToTensor.Scalar"(%int4) : (!torch.int) -> !torch.vtensor<[],si64>
  %floor = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
  %page = "torch.aten.div.Tensor_mode"(%slots, %four, %floor) : (!torch.vtensor<[5],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[5],si64>
  %offset = "torch.aten.remainder.Scalar"(%slots, %int4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %iota = "torch.aten.arange"(%int3, %none, %none, %none, %false) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[3],si64>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %pages = "torch.aten.unsqueeze"(%page, %int1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5,1],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %heads = "torch.aten.unsqueeze"(%iota, %int0) : (!torch.vtensor<[3],si64>, !torch.int) -> !torch.vtensor<[1,3],si64>
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %offsets = "torch.aten.unsqueeze"(%offset, %int_1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5,1],si64>
  %list = "torch.prim.ListConstruct"(%part, %pages, %heads, %offsets) : (!torch.vtensor<[1],si64>, !torch.vtensor<[5,1],si64>, !torch.vtensor<[1,3],si64>, !torch.vtensor<[5,1],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%pool, %list, %rows, %false) : (!torch.vtensor<[2,6,3,4,8],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,3,8],bf16>, !torch.bool) -> !torch.vtensor<[2,6,3,4,8],bf16>
  return %0 : !torch.vtensor<[2,6,3,4,8],bf16>
}

// -----

// An iota from a start, by a step, and of as many elements as a tensor has.

// CHECK-DAG: #[[$STEP:.+]] = affine_map<(d0) -> (d0 * 2 + 3)>
// CHECK-DAG: #[[$SUM:.+]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func @arange(
// CHECK-SAME:    %[[START:[^:]+]]: tensor<1xi64>, %{{.+}}: tensor<24x16xbf16> {{.*}}, %[[ROWS:[^:]+]]: tensor<?x16xbf16>, %{{.+}}: tensor<4x16xbf16>)
// CHECK:         %[[T:.+]] = tensor.dim %[[ROWS]], %{{.+}}
// CHECK:         %[[IOTA:.+]] = tensor.generate %[[T]] {
// CHECK:         } : tensor<?xi64>
// CHECK:         %[[STARTS:.+]] = linalg.broadcast
// CHECK:         kv.apply #[[$SUM]](%[[STARTS]], %[[IOTA]]) : tensor<?xi64>
// CHECK:         %[[FOUR:.+]] = tensor.generate {
// CHECK:         } : tensor<4xi64>
// CHECK:         kv.apply #[[$STEP]](%[[FOUR]])
func.func @arange(%start: !torch.vtensor<[1],si64>, %cache: !torch.vtensor<[24,16],bf16>, %rows: !torch.vtensor<[?,16],bf16>, %four: !torch.vtensor<[4,16],bf16>) -> !torch.vtensor<[24,16],bf16> {
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %tokens = "torch.aten.size.int"(%rows, %int0) : (!torch.vtensor<[?,16],bf16>, !torch.int) -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %iota = "torch.aten.arange"(%tokens, %none, %none, %none, %false) : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[?],si64>
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %at = "torch.aten.add.Tensor"(%start, %iota, %int1) : (!torch.vtensor<[1],si64>, !torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
  %list = "torch.prim.ListConstruct"(%at) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %int11 = "torch.constant.int"() <{value = 11 : i64}> : () -> !torch.int
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %steps = "torch.aten.arange.start_step"(%int3, %int11, %int2, %none, %none, %none, %false) : (!torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[4],si64>
  %every = "torch.aten.add.Tensor"(%steps, %start, %int1) : (!torch.vtensor<[4],si64>, !torch.vtensor<[1],si64>, !torch.int) -> !torch.vtensor<[4],si64>
  %list1 = "torch.prim.ListConstruct"(%every) : (!torch.vtensor<[4],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%0, %list1, %four, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[4,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  return %1 : !torch.vtensor<[24,16],bf16>
}

// -----

// A grid of heads and tokens in disguise: repetition as a collapsed broadcast.

// CHECK-LABEL: func.func @repeat(
// CHECK-SAME:    %[[PAGE:[^:]+]]: tensor<?xi64>, %[[HEADS:[^:]+]]: tensor<3xi64>,
// CHECK:         %[[A:.+]] = linalg.broadcast ins(%[[PAGE]] : tensor<?xi64>) outs(%{{.+}} : tensor<3x?xi64>) dimensions = [0]
// CHECK:         %[[PAGES:.+]] = tensor.collapse_shape %[[A]] {{\[\[}}0, 1]] : tensor<3x?xi64> into tensor<?xi64>
// CHECK:         %[[B:.+]] = linalg.broadcast ins(%[[HEADS]] : tensor<3xi64>) outs(%{{.+}} : tensor<3x5xi64>) dimensions = [1]
// CHECK:         %[[HEAD:.+]] = tensor.collapse_shape %[[B]] {{\[\[}}0, 1]] : tensor<3x5xi64> into tensor<15xi64>
// CHECK:         kv.write at(%[[PAGES]], %[[HEAD]] : tensor<?xi64>, tensor<15xi64>)
func.func @repeat(%page: !torch.vtensor<[?],si64>, %heads: !torch.vtensor<[3],si64>, %cache: !torch.vtensor<[6,3,16],bf16>, %rows: !torch.vtensor<[15,16],bf16>) -> !torch.vtensor<[6,3,16],bf16> {
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %list = "torch.prim.ListConstruct"(%int3) : (!torch.int) -> !torch.list<int>
  %pages = "torch.aten.repeat"(%page, %list) : (!torch.vtensor<[?],si64>, !torch.list<int>) -> !torch.vtensor<[?],si64>
  %int5 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
  %none = "torch.constant.none"() : () -> !torch.none
  %interleaved = "torch.aten.repeat_interleave.self_int"(%heads, %int5, %none, %none) : (!torch.vtensor<[3],si64>, !torch.int, !torch.none, !torch.none) -> !torch.vtensor<[15],si64>
  %list1 = "torch.prim.ListConstruct"(%pages, %interleaved) : (!torch.vtensor<[?],si64>, !torch.vtensor<[15],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list1, %rows, %false) : (!torch.vtensor<[6,3,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[15,16],bf16>, !torch.bool) -> !torch.vtensor<[6,3,16],bf16>
  return %0 : !torch.vtensor<[6,3,16],bf16>
}

// -----

// Repetition to given sizes; -1 leaves a size as it is.

// CHECK-LABEL: func.func @expand(
// CHECK-SAME:    %[[SLOTS:[^:]+]]: tensor<?xi64>,
// CHECK:         %[[GRID:.+]] = linalg.broadcast ins(%[[SLOTS]] : tensor<?xi64>) outs(%{{.+}} : tensor<?x3xi64>) dimensions = [1]
// CHECK:         kv.write at(%[[GRID]], %{{.+}} : tensor<?x3xi64>, tensor<?x3xi64>)
func.func @expand(%slots: !torch.vtensor<[?],si64>, %heads: !torch.vtensor<[3],si64>, %cache: !torch.vtensor<[24,3,16],bf16>, %rows: !torch.vtensor<[?,3,16],bf16>) -> !torch.vtensor<[24,3,16],bf16> {
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %unit = "torch.aten.unsqueeze"(%slots, %int1) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?,1],si64>
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %list = "torch.prim.ListConstruct"(%int_1, %int3) : (!torch.int, !torch.int) -> !torch.list<int>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %grid = "torch.aten.expand"(%unit, %list, %false) : (!torch.vtensor<[?,1],si64>, !torch.list<int>, !torch.bool) -> !torch.vtensor<[?,3],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %tokens = "torch.aten.size.int"(%slots, %int0) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.int
  %list1 = "torch.prim.ListConstruct"(%tokens, %int3) : (!torch.int, !torch.int) -> !torch.list<int>
  %head = "torch.aten.broadcast_to"(%heads, %list1) : (!torch.vtensor<[3],si64>, !torch.list<int>) -> !torch.vtensor<[?,3],si64>
  %list2 = "torch.prim.ListConstruct"(%grid, %head) : (!torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list2, %rows, %false) : (!torch.vtensor<[24,3,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,3,16],bf16>, !torch.bool) -> !torch.vtensor<[24,3,16],bf16>
  return %0 : !torch.vtensor<[24,3,16],bf16>
}

// -----

// Views: the sizes of a view with one dynamic size are known, and those of one
// that only adds dimensions of size 1. Any other stays in torch.

// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:[^:]+]]: !torch.vtensor<[?,?],si64>, %[[Y:[^:]+]]: !torch.vtensor<[?,4],si64>,
// CHECK-DAG:     %[[IN:.+]] = "torch_c.to_builtin_tensor"(%[[X]])
// CHECK-DAG:     %[[FLAT:.+]] = "torch_c.to_builtin_tensor"(%[[Y]])
// CHECK:         %[[UNIT:.+]] = tensor.expand_shape %[[IN]] {{\[\[}}0], [1, 2]] {{.*}} : tensor<?x?xi64> into tensor<?x?x1xi64>
// CHECK:         %[[OTHER:.+]] = "torch.aten.view"(%[[X]], %{{.+}}) : {{.+}} -> !torch.vtensor<[?,?,1],si64>
// CHECK:         %[[ROOT:.+]] = "torch_c.to_builtin_tensor"(%[[OTHER]])
// CHECK:         kv.write at(%[[UNIT]], %[[ROOT]] :
// CHECK:         %[[ALL:.+]] = tensor.collapse_shape %[[FLAT]] {{\[\[}}0, 1]] : tensor<?x4xi64> into tensor<?xi64>
// CHECK:         %[[PAIRS:.+]] = tensor.expand_shape %[[ALL]] {{\[\[}}0, 1]] {{.*}} : tensor<?xi64> into tensor<?x8xi64>
// CHECK:         kv.write at(%[[PAIRS]] : tensor<?x8xi64>)
func.func @views(%x: !torch.vtensor<[?,?],si64>, %y: !torch.vtensor<[?,4],si64>, %cache: !torch.vtensor<[24,24,16],bf16>, %flat: !torch.vtensor<[24,16],bf16>, %rows: !torch.vtensor<[?,?,1,16],bf16>, %flatrows: !torch.vtensor<[?,8,16],bf16>) -> (!torch.vtensor<[24,24,16],bf16>, !torch.vtensor<[24,16],bf16>) {
  %int2 = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  %unit = "torch.aten.unsqueeze"(%x, %int2) : (!torch.vtensor<[?,?],si64>, !torch.int) -> !torch.vtensor<[?,?,1],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %n = "torch.aten.size.int"(%x, %int0) : (!torch.vtensor<[?,?],si64>, !torch.int) -> !torch.int
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %list = "torch.prim.ListConstruct"(%n, %int_1, %int1) : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %other = "torch.aten.view"(%x, %list) : (!torch.vtensor<[?,?],si64>, !torch.list<int>) -> !torch.vtensor<[?,?,1],si64>
  %list1 = "torch.prim.ListConstruct"(%unit, %other) : (!torch.vtensor<[?,?,1],si64>, !torch.vtensor<[?,?,1],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list1, %rows, %false) : (!torch.vtensor<[24,24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,?,1,16],bf16>, !torch.bool) -> !torch.vtensor<[24,24,16],bf16>
  %int8 = "torch.constant.int"() <{value = 8 : i64}> : () -> !torch.int
  %list2 = "torch.prim.ListConstruct"(%int_1, %int8) : (!torch.int, !torch.int) -> !torch.list<int>
  %pairs = "torch.aten.view"(%y, %list2) : (!torch.vtensor<[?,4],si64>, !torch.list<int>) -> !torch.vtensor<[?,8],si64>
  %list3 = "torch.prim.ListConstruct"(%pairs) : (!torch.vtensor<[?,8],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%flat, %list3, %flatrows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  return %0, %1 : !torch.vtensor<[24,24,16],bf16>, !torch.vtensor<[24,16],bf16>
}

// -----

// Parts of index tensors, with torch's ends: a slice beyond the end, a negative
// number, all of a dynamic size.

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<5x2xi64>, %[[Y:[^:]+]]: tensor<?xi64>,
// CHECK:         %[[COLUMN:.+]] = tensor.extract_slice %[[X]][0, 1] [5, 1] [1, 1] : tensor<5x2xi64> to tensor<5xi64>
// CHECK:         %[[TAIL:.+]] = tensor.extract_slice %[[COLUMN]][2] [3] [1] : tensor<5xi64> to tensor<3xi64>
// CHECK:         kv.write at(%[[TAIL]], %[[Y]] : tensor<3xi64>, tensor<?xi64>)
func.func @parts(%x: !torch.vtensor<[5,2],si64>, %y: !torch.vtensor<[?],si64>, %cache: !torch.vtensor<[6,4,16],bf16>, %rows: !torch.vtensor<[3,16],bf16>) -> !torch.vtensor<[6,4,16],bf16> {
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %column = "torch.aten.select.int"(%x, %int1, %int_1) : (!torch.vtensor<[5,2],si64>, !torch.int, !torch.int) -> !torch.vtensor<[5],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %int_3 = "torch.constant.int"() <{value = -3 : i64}> : () -> !torch.int
  %int100 = "torch.constant.int"() <{value = 100 : i64}> : () -> !torch.int
  %tail = "torch.aten.slice.Tensor"(%column, %int0, %int_3, %int100, %int1) : (!torch.vtensor<[5],si64>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[3],si64>
  %int9223372036854775807 = "torch.constant.int"() <{value = 9223372036854775807 : i64}> : () -> !torch.int
  %all = "torch.aten.slice.Tensor"(%y, %int0, %int0, %int9223372036854775807, %int1) : (!torch.vtensor<[?],si64>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[?],si64>
  %list = "torch.prim.ListConstruct"(%tail, %all) : (!torch.vtensor<[3],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[6,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[6,4,16],bf16>
  return %0 : !torch.vtensor<[6,4,16],bf16>
}

// -----

// Two names for one part are one index tensor.

// CHECK-LABEL: func.func @same_part(
// CHECK:         %[[PART:.+]] = tensor.extract_slice %{{.+}}[0] [3] [1] : tensor<8xi64> to tensor<3xi64>
// CHECK-NOT:     tensor.extract_slice
// CHECK:         kv.write at(%[[PART]] : tensor<3xi64>)
// CHECK:         kv.write at(%[[PART]] : tensor<3xi64>)
func.func @same_part(%x: !torch.vtensor<[8],si64>, %k: !torch.vtensor<[24,16],bf16>, %v: !torch.vtensor<[24,16],bf16>, %rows: !torch.vtensor<[3,16],bf16>) -> (!torch.vtensor<[24,16],bf16>, !torch.vtensor<[24,16],bf16>) {
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %int3 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
  %int1 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %a = "torch.aten.slice.Tensor"(%x, %int0, %int0, %int3, %int1) : (!torch.vtensor<[8],si64>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[3],si64>
  %list = "torch.prim.ListConstruct"(%a) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%k, %list, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  %b = "torch.aten.slice.Tensor"(%x, %int0, %int0, %int3, %int1) : (!torch.vtensor<[8],si64>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[3],si64>
  %list1 = "torch.prim.ListConstruct"(%b) : (!torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%v, %list1, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[3,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  return %0, %1 : !torch.vtensor<[24,16],bf16>, !torch.vtensor<[24,16],bf16>
}

// -----

// A redirect stays arithmetic (SX6), and so does a clamp: roots, in arith.

// CHECK-LABEL: func.func @redirect(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<5xi64>, %[[Y:[^:]+]]: tensor<5xi32>,
// CHECK:         %[[IS:.+]] = arith.cmpi eq, %[[X]], %{{.+}} : tensor<5xi64>
// CHECK:         %[[DUMMY:.+]] = arith.constant dense<23> : tensor<5xi64>
// CHECK:         %[[SLOT:.+]] = arith.select %[[IS]], %[[DUMMY]], %[[X]] : tensor<5xi1>, tensor<5xi64>
// CHECK:         kv.write at(%[[SLOT]] : tensor<5xi64>) negative(wrap)
// CHECK:         %[[LOW:.+]] = arith.maxsi %[[Y]], %{{.+}} : tensor<5xi32>
// CHECK:         %[[HIGH:.+]] = arith.minsi %[[LOW]], %{{.+}} : tensor<5xi32>
// CHECK:         kv.write at(%[[HIGH]] : tensor<5xi32>)
func.func @redirect(%x: !torch.vtensor<[5],si64>, %y: !torch.vtensor<[5],si32>, %cache: !torch.vtensor<[24,16],bf16>, %rows: !torch.vtensor<[5,16],bf16>) -> !torch.vtensor<[24,16],bf16> {
  %int_1 = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %is = "torch.aten.eq.Scalar"(%x, %int_1) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],i1>
  %last = "torch.vtensor.literal"() <{value = dense<23> : tensor<si64>}> : () -> !torch.vtensor<[],si64>
  %slot = "torch.aten.where.self"(%is, %last, %x) : (!torch.vtensor<[5],i1>, !torch.vtensor<[],si64>, !torch.vtensor<[5],si64>) -> !torch.vtensor<[5],si64>
  %list = "torch.prim.ListConstruct"(%slot) : (!torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %int23 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
  %inside = "torch.aten.clamp"(%y, %int0, %int23) : (!torch.vtensor<[5],si32>, !torch.int, !torch.int) -> !torch.vtensor<[5],si32>
  %list1 = "torch.prim.ListConstruct"(%inside) : (!torch.vtensor<[5],si32>) -> !torch.list<vtensor>
  %1 = "torch.aten.index_put"(%0, %list1, %rows, %false) : (!torch.vtensor<[24,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[24,16],bf16>
  return %1 : !torch.vtensor<[24,16],bf16>
}

// -----

// What is no arithmetic is a root, and what it is computed from stays in torch:
// a gather through a block table, a page size that is a tensor.

// CHECK-LABEL: func.func @roots(
// CHECK:         "torch.aten.floor_divide.Scalar"
// CHECK:         %[[GATHER:.+]] = "torch.aten.index_select"
// CHECK:         %[[PAGE:.+]] = "torch_c.to_builtin_tensor"(%[[GATHER]])
// CHECK:         %[[REM:.+]] = "torch.aten.remainder.Tensor"
// CHECK:         %[[OFFSET:.+]] = "torch_c.to_builtin_tensor"(%[[REM]])
// CHECK-NOT:     kv.apply
// CHECK:         kv.write at(%[[PAGE]], %[[OFFSET]] : tensor<5xi64>, tensor<5xi64>)
func.func @roots(%slots: !torch.vtensor<[5],si64>, %table: !torch.vtensor<[6],si64>, %size: !torch.vtensor<[1],si64>, %cache: !torch.vtensor<[6,4,16],bf16>, %rows: !torch.vtensor<[5,16],bf16>) -> !torch.vtensor<[6,4,16],bf16> {
  %int4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
  %number = "torch.aten.floor_divide.Scalar"(%slots, %int4) : (!torch.vtensor<[5],si64>, !torch.int) -> !torch.vtensor<[5],si64>
  %int0 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  %page = "torch.aten.index_select"(%table, %int0, %number) : (!torch.vtensor<[6],si64>, !torch.int, !torch.vtensor<[5],si64>) -> !torch.vtensor<[5],si64>
  %offset = "torch.aten.remainder.Tensor"(%slots, %size) : (!torch.vtensor<[5],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[5],si64>
  %list = "torch.prim.ListConstruct"(%page, %offset) : (!torch.vtensor<[5],si64>, !torch.vtensor<[5],si64>) -> !torch.list<vtensor>
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[6,4,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[5,16],bf16>, !torch.bool) -> !torch.vtensor<[6,4,16],bf16>
  return %0 : !torch.vtensor<[6,4,16],bf16>
}
