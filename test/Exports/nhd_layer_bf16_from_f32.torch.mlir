// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,1,128],bf16>, !torch.vtensor<[?,8,128],f32>, !torch.vtensor<[?,8,128],f32>, !torch.vtensor<[?,1,128],f32>, !torch.vtensor<[?],si32>) -> (!torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,8,128],bf16>, %arg1: !torch.vtensor<[?,32,8,128],bf16>, %arg2: !torch.vtensor<[?,32,1,128],bf16>, %arg3: !torch.vtensor<[?,8,128],f32>, %arg4: !torch.vtensor<[?,8,128],f32>, %arg5: !torch.vtensor<[?,1,128],f32>, %arg6: !torch.vtensor<[?],si32>):
    %0 = "torch.constant.str"() <{value = "floor"}> : () -> !torch.str
    %1 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %2 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %3 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %4 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %5 = "torch.constant.none"() : () -> !torch.none
    %6 = "torch.aten.to.dtype"(%arg6, %4, %1, %1, %5) : (!torch.vtensor<[?],si32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?],si64>
    %7 = "torch.aten.div.Scalar_mode"(%6, %3, %0) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %8 = "torch.aten.remainder.Scalar"(%6, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %9 = "torch.aten.to.dtype"(%arg3, %2, %1, %1, %5) : (!torch.vtensor<[?,8,128],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,8,128],bf16>
    %10 = "torch.prim.ListConstruct"(%7, %8) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %11 = "torch.aten.index_put.hacked_twin"(%arg0, %10, %9, %1) : (!torch.vtensor<[?,32,8,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,8,128],bf16>
    %12 = "torch.aten.to.dtype"(%arg6, %4, %1, %1, %5) : (!torch.vtensor<[?],si32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?],si64>
    %13 = "torch.aten.div.Scalar_mode"(%12, %3, %0) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %14 = "torch.aten.remainder.Scalar"(%12, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %15 = "torch.aten.to.dtype"(%arg4, %2, %1, %1, %5) : (!torch.vtensor<[?,8,128],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,8,128],bf16>
    %16 = "torch.prim.ListConstruct"(%13, %14) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %17 = "torch.aten.index_put.hacked_twin"(%arg1, %16, %15, %1) : (!torch.vtensor<[?,32,8,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,8,128],bf16>
    %18 = "torch.aten.to.dtype"(%arg6, %4, %1, %1, %5) : (!torch.vtensor<[?],si32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?],si64>
    %19 = "torch.aten.div.Scalar_mode"(%18, %3, %0) : (!torch.vtensor<[?],si64>, !torch.int, !torch.str) -> !torch.vtensor<[?],si64>
    %20 = "torch.aten.remainder.Scalar"(%18, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %21 = "torch.aten.to.dtype"(%arg5, %2, %1, %1, %5) : (!torch.vtensor<[?,1,128],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none) -> !torch.vtensor<[?,1,128],bf16>
    %22 = "torch.prim.ListConstruct"(%19, %20) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %23 = "torch.aten.index_put.hacked_twin"(%arg2, %22, %21, %1) : (!torch.vtensor<[?,32,1,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,1,128],bf16>
    "func.return"(%11, %17, %23, %5) : (!torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
