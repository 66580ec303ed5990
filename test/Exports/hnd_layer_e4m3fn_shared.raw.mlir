// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,1,128],bf16>, !torch.vtensor<[?],si32>) -> (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,4,32,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,1,32,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?,4,128],bf16>, %arg5: !torch.vtensor<[?,1,128],bf16>, %arg6: !torch.vtensor<[?],si32>):
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
    %13 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %14 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %15 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %11, %12, %13, %14, %15) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %16 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %17 = "torch.prims.convert_element_type"(%arg3, %16) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %18 = "torch.constant.none"() : () -> !torch.none
    %19 = "torch.prim.ListConstruct"(%8, %18, %10) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %20 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %21 = "torch.aten.index_put"(%arg0, %19, %17, %20) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %22 = "torch.constant.none"() : () -> !torch.none
    %23 = "torch.constant.none"() : () -> !torch.none
    %24 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %25 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %26 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %22, %23, %24, %25, %26) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %27 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %28 = "torch.prims.convert_element_type"(%arg4, %27) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %29 = "torch.constant.none"() : () -> !torch.none
    %30 = "torch.prim.ListConstruct"(%8, %29, %10) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %31 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %32 = "torch.aten.index_put"(%arg1, %30, %28, %31) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f8E4M3FN>
    %33 = "torch.constant.none"() : () -> !torch.none
    %34 = "torch.constant.none"() : () -> !torch.none
    %35 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %36 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %37 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg5, %33, %34, %35, %36, %37) : (!torch.vtensor<[?,1,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %38 = "torch.constant.none"() : () -> !torch.none
    %39 = "torch.prim.ListConstruct"(%8, %38, %10) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %40 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %41 = "torch.aten.index_put"(%arg2, %39, %arg5, %40) : (!torch.vtensor<[?,1,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,1,128],bf16>, !torch.bool) -> !torch.vtensor<[?,1,32,128],bf16>
    %42 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%21, %32, %41, %42) : (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
