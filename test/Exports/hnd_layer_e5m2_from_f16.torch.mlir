// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],bf16>, !torch.vtensor<[?,1,128],f16>, !torch.vtensor<[?,1,128],f16>, !torch.vtensor<[?,1,128],f16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,1,32,128],f8E5M2>, %arg1: !torch.vtensor<[?,1,32,128],f8E5M2>, %arg2: !torch.vtensor<[?,1,32,128],bf16>, %arg3: !torch.vtensor<[?,1,128],f16>, %arg4: !torch.vtensor<[?,1,128],f16>, %arg5: !torch.vtensor<[?,1,128],f16>, %arg6: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %1 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %2 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
    %3 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %4 = "torch.constant.none"() : () -> !torch.none
    %5 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %6 = "torch.aten.div.Scalar_mode"(%arg6, %3, %5) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.remainder.Scalar"(%arg6, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %8 = "torch.aten.to.dtype"(%arg3, %2, %1, %1, %4) : (!torch.vtensor<[?,1,128],f16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,1,128],f8E5M2>
    %9 = "torch.prim.ListConstruct"(%6, %4, %7) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %10 = "torch.aten.index_put"(%arg0, %9, %8, %1) : (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,1,32,128],f8E5M2>
    %11 = "torch.aten.div.Scalar_mode"(%arg6, %3, %5) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %12 = "torch.aten.remainder.Scalar"(%arg6, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %13 = "torch.aten.to.dtype"(%arg4, %2, %1, %1, %4) : (!torch.vtensor<[?,1,128],f16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,1,128],f8E5M2>
    %14 = "torch.prim.ListConstruct"(%11, %4, %12) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %15 = "torch.aten.index_put"(%arg1, %14, %13, %1) : (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,1,32,128],f8E5M2>
    %16 = "torch.aten.div.Scalar_mode"(%arg6, %3, %5) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %17 = "torch.aten.remainder.Scalar"(%arg6, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %18 = "torch.aten.to.dtype"(%arg5, %0, %1, %1, %4) : (!torch.vtensor<[?,1,128],f16>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,1,128],bf16>
    %19 = "torch.prim.ListConstruct"(%16, %4, %17) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %20 = "torch.aten.index_put"(%arg2, %19, %18, %1) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    "func.return"(%10, %15, %20, %4) : (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
