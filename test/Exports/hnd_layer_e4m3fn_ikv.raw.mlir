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
    "torch.aten._assert_tensor_metadata"(%arg5, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,1,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.none"() : () -> !torch.none
    %15 = "torch.prim.ListConstruct"(%6, %14, %8) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %16 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %17 = "torch.aten.index_put"(%arg2, %15, %arg5, %16) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    %18 = "torch.constant.none"() : () -> !torch.none
    %19 = "torch.constant.none"() : () -> !torch.none
    %20 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %21 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %22 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg6, %18, %19, %20, %21, %22) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %23 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %24 = "torch.aten.floor_divide.Scalar"(%arg6, %23) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %25 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %26 = "torch.aten.remainder.Scalar"(%arg6, %25) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %27 = "torch.constant.none"() : () -> !torch.none
    %28 = "torch.constant.none"() : () -> !torch.none
    %29 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %30 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %31 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %27, %28, %29, %30, %31) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %32 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %33 = "torch.prims.convert_element_type"(%arg3, %32) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %34 = "torch.constant.none"() : () -> !torch.none
    %35 = "torch.prim.ListConstruct"(%24, %34, %26) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %36 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %37 = "torch.aten.index_put"(%arg0, %35, %33, %36) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
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
    "torch.aten._assert_tensor_metadata"(%arg4, %47, %48, %49, %50, %51) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %52 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %53 = "torch.prims.convert_element_type"(%arg4, %52) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %54 = "torch.constant.none"() : () -> !torch.none
    %55 = "torch.prim.ListConstruct"(%44, %54, %46) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %56 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %57 = "torch.aten.index_put"(%arg1, %55, %53, %56) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %58 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%37, %57, %17, %58) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
