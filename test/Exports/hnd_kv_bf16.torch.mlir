// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,128],bf16>, !torch.vtensor<[?,8,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,8,32,128],bf16>, %arg1: !torch.vtensor<[?,8,32,128],bf16>, %arg2: !torch.vtensor<[?,8,128],bf16>, %arg3: !torch.vtensor<[?,8,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %2 = "torch.constant.none"() : () -> !torch.none
    %3 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %4 = "torch.aten.div.Scalar_mode"(%arg4, %1, %3) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %5 = "torch.aten.remainder.Scalar"(%arg4, %1) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %6 = "torch.prim.ListConstruct"(%4, %2, %5) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %7 = "torch.aten.index_put"(%arg0, %6, %arg2, %0) : (!torch.vtensor<[?,8,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,8,32,128],bf16>
    %8 = "torch.aten.div.Scalar_mode"(%arg4, %1, %3) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %9 = "torch.aten.remainder.Scalar"(%arg4, %1) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %10 = "torch.prim.ListConstruct"(%8, %2, %9) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %11 = "torch.aten.index_put"(%arg1, %10, %arg3, %0) : (!torch.vtensor<[?,8,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,8,32,128],bf16>
    "func.return"(%7, %11, %2) : (!torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
