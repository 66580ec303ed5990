// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,32,4,128],f8E5M2>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,4,128],f8E5M2>, %arg1: !torch.vtensor<[?,32,4,128],f8E5M2>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
    %2 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %3 = "torch.constant.none"() : () -> !torch.none
    %4 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %5 = "torch.aten.div.Scalar_mode"(%arg4, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %6 = "torch.aten.remainder.Scalar"(%arg4, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.to.dtype"(%arg2, %1, %0, %0, %3) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E5M2>
    %8 = "torch.prim.ListConstruct"(%5, %6) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %9 = "torch.aten.index_put.hacked_twin"(%arg0, %8, %7, %0) : (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E5M2>
    %10 = "torch.aten.to.dtype"(%arg3, %1, %0, %0, %3) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E5M2>
    %11 = "torch.prim.ListConstruct"(%5, %6) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %12 = "torch.aten.index_put.hacked_twin"(%arg1, %11, %10, %0) : (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E5M2>
    "func.return"(%9, %12, %3) : (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,32,4,128],f8E5M2>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
