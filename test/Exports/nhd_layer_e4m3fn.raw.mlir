// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,1,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,1,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,4,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,32,4,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,32,1,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?,4,128],bf16>, %arg5: !torch.vtensor<[?,1,128],bf16>, %arg6: !torch.vtensor<[?],si64>):
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
    %16 = "torch.prim.ListConstruct"(%6, %8) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %17 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %18 = "torch.aten.index_put"(%arg0, %16, %15, %17) : (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E4M3FN>
    %19 = "torch.constant.none"() : () -> !torch.none
    %20 = "torch.constant.none"() : () -> !torch.none
    %21 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %22 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %23 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %19, %20, %21, %22, %23) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %24 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %25 = "torch.aten.floor_divide.Scalar"(%arg6, %24) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %26 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %27 = "torch.aten.remainder.Scalar"(%arg6, %26) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %28 = "torch.constant.none"() : () -> !torch.none
    %29 = "torch.constant.none"() : () -> !torch.none
    %30 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %31 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %32 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %28, %29, %30, %31, %32) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %33 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %34 = "torch.prims.convert_element_type"(%arg4, %33) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %35 = "torch.prim.ListConstruct"(%25, %27) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %36 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %37 = "torch.aten.index_put"(%arg1, %35, %34, %36) : (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E4M3FN>
    %38 = "torch.constant.none"() : () -> !torch.none
    %39 = "torch.constant.none"() : () -> !torch.none
    %40 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %41 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %42 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %38, %39, %40, %41, %42) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %43 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %44 = "torch.aten.floor_divide.Scalar"(%arg6, %43) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %45 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %46 = "torch.aten.remainder.Scalar"(%arg6, %45) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %47 = "torch.constant.none"() : () -> !torch.none
    %48 = "torch.constant.none"() : () -> !torch.none
    %49 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %50 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %51 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg5, %47, %48, %49, %50, %51) : (!torch.vtensor<[?,1,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %52 = "torch.prim.ListConstruct"(%44, %46) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %53 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %54 = "torch.aten.index_put"(%arg2, %52, %arg5, %53) : (!torch.vtensor<[?,32,1,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,1,128],bf16>
    %55 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%18, %37, %54, %55) : (!torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,4,128],f8E4M3FN>, !torch.vtensor<[?,32,1,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
