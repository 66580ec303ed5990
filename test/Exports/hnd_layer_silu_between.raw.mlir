// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,1,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,1,32,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?,4,128],bf16>, %arg5: !torch.vtensor<[?,1,128],bf16>, %arg6: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %0, %1, %2, %3, %4) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %6 = "torch.aten.floor_divide.Scalar"(%arg6, %5) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %8 = "torch.aten.remainder.Scalar"(%arg6, %7) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %9 = "torch.constant.none"() : () -> !torch.none
    %10 = "torch.constant.none"() : () -> !torch.none
    %11 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %12 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %13 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %15 = "torch.prims.convert_element_type"(%arg3, %14) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %16 = "torch.constant.none"() : () -> !torch.none
    %17 = "torch.prim.ListConstruct"(%6, %16, %8) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %18 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %19 = "torch.aten.index_put"(%arg0, %17, %15, %18) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %20 = "torch.aten.silu"(%arg4) : (!torch.vtensor<[?,4,128],bf16>) -> !torch.vtensor<[?,4,128],bf16>
    %21 = "torch.constant.none"() : () -> !torch.none
    %22 = "torch.constant.none"() : () -> !torch.none
    %23 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %24 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %25 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %21, %22, %23, %24, %25) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %26 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %27 = "torch.aten.floor_divide.Scalar"(%arg6, %26) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %28 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %29 = "torch.aten.remainder.Scalar"(%arg6, %28) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %30 = "torch.constant.none"() : () -> !torch.none
    %31 = "torch.constant.none"() : () -> !torch.none
    %32 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %33 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %34 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%20, %30, %31, %32, %33, %34) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %35 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %36 = "torch.prims.convert_element_type"(%20, %35) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %37 = "torch.constant.none"() : () -> !torch.none
    %38 = "torch.prim.ListConstruct"(%27, %37, %29) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %39 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %40 = "torch.aten.index_put"(%arg1, %38, %36, %39) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %41 = "torch.constant.none"() : () -> !torch.none
    %42 = "torch.constant.none"() : () -> !torch.none
    %43 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %44 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %45 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %41, %42, %43, %44, %45) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %46 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %47 = "torch.aten.floor_divide.Scalar"(%arg6, %46) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %48 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %49 = "torch.aten.remainder.Scalar"(%arg6, %48) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %50 = "torch.constant.none"() : () -> !torch.none
    %51 = "torch.constant.none"() : () -> !torch.none
    %52 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %53 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %54 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg5, %50, %51, %52, %53, %54) : (!torch.vtensor<[?,1,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %55 = "torch.constant.none"() : () -> !torch.none
    %56 = "torch.prim.ListConstruct"(%47, %55, %49) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %57 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %58 = "torch.aten.index_put"(%arg2, %56, %arg5, %57) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    %59 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%19, %40, %58, %59) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
