// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,1,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,1,32,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?,4,128],bf16>, %arg5: !torch.vtensor<[?,1,128],bf16>, %arg6: !torch.vtensor<[?],si64>):
    %0 = "torch.vtensor.literal"() <{value = dense<32> : tensor<si64>}> : () -> !torch.vtensor<[],si64>
    %1 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %2 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %3 = "torch.constant.str"() <{value = "trunc"}> : () -> !torch.str
    %4 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %5 = "torch.constant.none"() : () -> !torch.none
    %6 = "torch.aten.div.Tensor_mode"(%arg6, %0, %3) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.remainder.Scalar"(%arg6, %4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %8 = "torch.aten.to.dtype"(%arg3, %2, %1, %1, %5) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %9 = "torch.prim.ListConstruct"(%6, %5, %7) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %10 = "torch.aten.index_put"(%arg0, %9, %8, %1) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %11 = "torch.aten.div.Tensor_mode"(%arg6, %0, %3) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %12 = "torch.aten.remainder.Scalar"(%arg6, %4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %13 = "torch.aten.to.dtype"(%arg4, %2, %1, %1, %5) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %14 = "torch.prim.ListConstruct"(%11, %5, %12) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %15 = "torch.aten.index_put"(%arg1, %14, %13, %1) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %16 = "torch.aten.div.Tensor_mode"(%arg6, %0, %3) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %17 = "torch.aten.remainder.Scalar"(%arg6, %4) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %18 = "torch.prim.ListConstruct"(%16, %5, %17) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %19 = "torch.aten.index_put"(%arg2, %18, %arg5, %1) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    "func.return"(%10, %15, %19, %5) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
