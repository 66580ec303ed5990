// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,4,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %2 = "torch.constant.none"() : () -> !torch.none
    %3 = "torch.aten.to.dtype"(%arg2, %1, %0, %0, %2) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %4 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %5 = "torch.aten.index_put.hacked_twin"(%arg0, %4, %3, %0) : (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %6 = "torch.aten.to.dtype"(%arg3, %1, %0, %0, %2) : (!torch.vtensor<[?,4,128],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %7 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %8 = "torch.aten.index_put.hacked_twin"(%arg1, %7, %6, %0) : (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    "func.return"(%5, %8, %2) : (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
