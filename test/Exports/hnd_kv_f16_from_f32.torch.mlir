// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,128],f32>, !torch.vtensor<[?,4,128],f32>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,32,128],f16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,32,128],f16>, %arg1: !torch.vtensor<[?,4,32,128],f16>, %arg2: !torch.vtensor<[?,4,128],f32>, %arg3: !torch.vtensor<[?,4,128],f32>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
    %2 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %3 = "torch.constant.none"() : () -> !torch.none
    %4 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %5 = "torch.aten.div.Scalar_mode"(%arg4, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %6 = "torch.aten.remainder.Scalar"(%arg4, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.to.dtype"(%arg2, %1, %0, %0, %3) : (!torch.vtensor<[?,4,128],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f16>
    %8 = "torch.prim.ListConstruct"(%5, %3, %6) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %9 = "torch.aten.index_put"(%arg0, %8, %7, %0) : (!torch.vtensor<[?,4,32,128],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f16>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f16>
    %10 = "torch.aten.div.Scalar_mode"(%arg4, %2, %4) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %11 = "torch.aten.remainder.Scalar"(%arg4, %2) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %12 = "torch.aten.to.dtype"(%arg3, %1, %0, %0, %3) : (!torch.vtensor<[?,4,128],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,4,128],f16>
    %13 = "torch.prim.ListConstruct"(%10, %3, %11) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %14 = "torch.aten.index_put"(%arg1, %13, %12, %0) : (!torch.vtensor<[?,4,32,128],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f16>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f16>
    "func.return"(%9, %14, %3) : (!torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,32,128],f16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
