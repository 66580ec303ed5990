// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,1,128],bf16>, !torch.vtensor<[?,8,128],f32>, !torch.vtensor<[?,8,128],f32>, !torch.vtensor<[?,1,128],f32>, !torch.vtensor<[?],si32>) -> (!torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,8,128],bf16>, %arg1: !torch.vtensor<[?,32,8,128],bf16>, %arg2: !torch.vtensor<[?,32,1,128],bf16>, %arg3: !torch.vtensor<[?,8,128],f32>, %arg4: !torch.vtensor<[?,8,128],f32>, %arg5: !torch.vtensor<[?,1,128],f32>, %arg6: !torch.vtensor<[?],si32>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %0, %1, %2, %3, %4) : (!torch.vtensor<[?],si32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %6 = "torch.prims.convert_element_type"(%arg6, %5) : (!torch.vtensor<[?],si32>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %8 = "torch.aten.floor_divide.Scalar"(%6, %7) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %9 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %10 = "torch.aten.remainder.Scalar"(%6, %9) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %11 = "torch.constant.none"() : () -> !torch.none
    %12 = "torch.constant.none"() : () -> !torch.none
    %13 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
    %14 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %15 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %11, %12, %13, %14, %15) : (!torch.vtensor<[?,8,128],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %16 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %17 = "torch.prims.convert_element_type"(%arg3, %16) : (!torch.vtensor<[?,8,128],f32>, !torch.int) -> !torch.vtensor<[?,8,128],bf16>
    %18 = "torch.prim.ListConstruct"(%8, %10) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %19 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %20 = "torch.aten.index_put"(%arg0, %18, %17, %19) : (!torch.vtensor<[?,32,8,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,8,128],bf16>
    %21 = "torch.constant.none"() : () -> !torch.none
    %22 = "torch.constant.none"() : () -> !torch.none
    %23 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
    %24 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %25 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %21, %22, %23, %24, %25) : (!torch.vtensor<[?],si32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %26 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %27 = "torch.prims.convert_element_type"(%arg6, %26) : (!torch.vtensor<[?],si32>, !torch.int) -> !torch.vtensor<[?],si64>
    %28 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %29 = "torch.aten.floor_divide.Scalar"(%27, %28) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %30 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %31 = "torch.aten.remainder.Scalar"(%27, %30) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %32 = "torch.constant.none"() : () -> !torch.none
    %33 = "torch.constant.none"() : () -> !torch.none
    %34 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
    %35 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %36 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %32, %33, %34, %35, %36) : (!torch.vtensor<[?,8,128],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %37 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %38 = "torch.prims.convert_element_type"(%arg4, %37) : (!torch.vtensor<[?,8,128],f32>, !torch.int) -> !torch.vtensor<[?,8,128],bf16>
    %39 = "torch.prim.ListConstruct"(%29, %31) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %40 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %41 = "torch.aten.index_put"(%arg1, %39, %38, %40) : (!torch.vtensor<[?,32,8,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,8,128],bf16>
    %42 = "torch.constant.none"() : () -> !torch.none
    %43 = "torch.constant.none"() : () -> !torch.none
    %44 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
    %45 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %46 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %42, %43, %44, %45, %46) : (!torch.vtensor<[?],si32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %47 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %48 = "torch.prims.convert_element_type"(%arg6, %47) : (!torch.vtensor<[?],si32>, !torch.int) -> !torch.vtensor<[?],si64>
    %49 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %50 = "torch.aten.floor_divide.Scalar"(%48, %49) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %51 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %52 = "torch.aten.remainder.Scalar"(%48, %51) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %53 = "torch.constant.none"() : () -> !torch.none
    %54 = "torch.constant.none"() : () -> !torch.none
    %55 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
    %56 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %57 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg5, %53, %54, %55, %56, %57) : (!torch.vtensor<[?,1,128],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %58 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %59 = "torch.prims.convert_element_type"(%arg5, %58) : (!torch.vtensor<[?,1,128],f32>, !torch.int) -> !torch.vtensor<[?,1,128],bf16>
    %60 = "torch.prim.ListConstruct"(%50, %52) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %61 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %62 = "torch.aten.index_put"(%arg2, %60, %59, %61) : (!torch.vtensor<[?,32,1,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,1,128],bf16>
    %63 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%20, %41, %62, %63) : (!torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,8,128],bf16>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
