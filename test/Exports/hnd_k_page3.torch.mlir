// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.vtensor<[?,2,7],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,2,3,7],f8E4M3FN>, %arg1: !torch.vtensor<[?,2,7],bf16>, %arg2: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %2 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
    %3 = "torch.constant.none"() : () -> !torch.none
    %4 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %5 = "torch.aten.div.Scalar_mode"(%arg2, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %6 = "torch.aten.remainder.Scalar"(%arg2, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.to.dtype"(%arg1, %1, %0, %0, %3) : (!torch.vtensor<[?,2,7],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,2,7],f8E4M3FN>
    %8 = "torch.prim.ListConstruct"(%5, %3, %6) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %9 = "torch.aten.index_put"(%arg0, %8, %7, %0) : (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,2,7],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,2,3,7],f8E4M3FN>
    "func.return"(%9, %3) : (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
