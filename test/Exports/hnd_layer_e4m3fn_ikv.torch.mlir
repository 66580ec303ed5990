// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,1,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,1,32,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?,4,128],bf16>, %arg5: !torch.vtensor<[?,1,128],bf16>, %arg6: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %1 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %2 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %3 = "torch.constant.none"() : () -> !torch.none
    %4 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %5 = "torch.aten.div.Scalar_mode"(%arg6, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %6 = "torch.aten.remainder.Scalar"(%arg6, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.prim.ListConstruct"(%5, %3, %6) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %8 = "torch.aten.index_put"(%arg2, %7, %arg5, %1) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    %9 = "torch.aten.div.Scalar_mode"(%arg6, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %10 = "torch.aten.remainder.Scalar"(%arg6, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %11 = "torch.aten.to.dtype"(%arg3, %0, %1, %1, %3) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %12 = "torch.prim.ListConstruct"(%9, %3, %10) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %13 = "torch.aten.index_put"(%arg0, %12, %11, %1) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %14 = "torch.aten.div.Scalar_mode"(%arg6, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %15 = "torch.aten.remainder.Scalar"(%arg6, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %16 = "torch.aten.to.dtype"(%arg4, %0, %1, %1, %3) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %17 = "torch.prim.ListConstruct"(%14, %3, %15) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %18 = "torch.aten.index_put"(%arg1, %17, %16, %1) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    "func.return"(%13, %18, %8, %3) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
