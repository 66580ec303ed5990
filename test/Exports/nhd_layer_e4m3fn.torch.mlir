// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,1,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,1,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,4,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,32,4,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,32,1,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?,4,128],bf16>, %arg5: !torch.vtensor<[?,1,128],bf16>, %arg6: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %2 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %3 = "torch.constant.none"() : () -> !torch.none
    %4 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %5 = "torch.aten.div.Scalar_mode"(%arg6, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %6 = "torch.aten.remainder.Scalar"(%arg6, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.to.dtype"(%arg3, %1, %0, %0, %3) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %8 = "torch.prim.ListConstruct"(%5, %6) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %9 = "torch.aten.index_put.hacked_twin"(%arg0, %8, %7, %0) : (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E4M3FN>
    %10 = "torch.aten.div.Scalar_mode"(%arg6, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %11 = "torch.aten.remainder.Scalar"(%arg6, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %12 = "torch.aten.to.dtype"(%arg4, %1, %0, %0, %3) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %13 = "torch.prim.ListConstruct"(%10, %11) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %14 = "torch.aten.index_put.hacked_twin"(%arg1, %13, %12, %0) : (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E4M3FN>
    %15 = "torch.aten.div.Scalar_mode"(%arg6, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %16 = "torch.aten.remainder.Scalar"(%arg6, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %17 = "torch.prim.ListConstruct"(%15, %16) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %18 = "torch.aten.index_put.hacked_twin"(%arg2, %17, %arg5, %0) : (!torch.vtensor<[?,32,1,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,1,128],bf16>
    "func.return"(%9, %14, %18, %3) : (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
