// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],bf16>, !torch.vtensor<[?,1,128],f16>, !torch.vtensor<[?,1,128],f16>, !torch.vtensor<[?,1,128],f16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,1,32,128],f8E5M2>, %arg1: !torch.vtensor<[?,1,32,128],f8E5M2>, %arg2: !torch.vtensor<[?,1,32,128],bf16>, %arg3: !torch.vtensor<[?,1,128],f16>, %arg4: !torch.vtensor<[?,1,128],f16>, %arg5: !torch.vtensor<[?,1,128],f16>, %arg6: !torch.vtensor<[?],si64>):
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
    %11 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
    %12 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %13 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,1,128],f16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
    %15 = "torch.prims.convert_element_type"(%arg3, %14) : (!torch.vtensor<[?,1,128],f16>, !torch.int) -> !torch.vtensor<[?,1,128],f8E5M2>
    %16 = "torch.constant.none"() : () -> !torch.none
    %17 = "torch.prim.ListConstruct"(%6, %16, %8) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %18 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %19 = "torch.aten.index_put"(%arg0, %17, %15, %18) : (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,1,32,128],f8E5M2>
    %20 = "torch.constant.none"() : () -> !torch.none
    %21 = "torch.constant.none"() : () -> !torch.none
    %22 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %23 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %24 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %20, %21, %22, %23, %24) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %25 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %26 = "torch.aten.floor_divide.Scalar"(%arg6, %25) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %27 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %28 = "torch.aten.remainder.Scalar"(%arg6, %27) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %29 = "torch.constant.none"() : () -> !torch.none
    %30 = "torch.constant.none"() : () -> !torch.none
    %31 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
    %32 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %33 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %29, %30, %31, %32, %33) : (!torch.vtensor<[?,1,128],f16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %34 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
    %35 = "torch.prims.convert_element_type"(%arg4, %34) : (!torch.vtensor<[?,1,128],f16>, !torch.int) -> !torch.vtensor<[?,1,128],f8E5M2>
    %36 = "torch.constant.none"() : () -> !torch.none
    %37 = "torch.prim.ListConstruct"(%26, %36, %28) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %38 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %39 = "torch.aten.index_put"(%arg1, %37, %35, %38) : (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,1,32,128],f8E5M2>
    %40 = "torch.constant.none"() : () -> !torch.none
    %41 = "torch.constant.none"() : () -> !torch.none
    %42 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %43 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %44 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %40, %41, %42, %43, %44) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %45 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %46 = "torch.aten.floor_divide.Scalar"(%arg6, %45) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %47 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %48 = "torch.aten.remainder.Scalar"(%arg6, %47) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %49 = "torch.constant.none"() : () -> !torch.none
    %50 = "torch.constant.none"() : () -> !torch.none
    %51 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
    %52 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %53 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg5, %49, %50, %51, %52, %53) : (!torch.vtensor<[?,1,128],f16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %54 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %55 = "torch.prims.convert_element_type"(%arg5, %54) : (!torch.vtensor<[?,1,128],f16>, !torch.int) -> !torch.vtensor<[?,1,128],bf16>
    %56 = "torch.constant.none"() : () -> !torch.none
    %57 = "torch.prim.ListConstruct"(%46, %56, %48) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %58 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %59 = "torch.aten.index_put"(%arg2, %57, %55, %58) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    %60 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%19, %39, %59, %60) : (!torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],f8E5M2>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
