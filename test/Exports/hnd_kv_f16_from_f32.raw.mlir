// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,128],f32>, !torch.vtensor<[?,4,128],f32>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,32,128],f16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,32,128],f16>, %arg1: !torch.vtensor<[?,4,32,128],f16>, %arg2: !torch.vtensor<[?,4,128],f32>, %arg3: !torch.vtensor<[?,4,128],f32>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %0, %1, %2, %3, %4) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %6 = "torch.aten.floor_divide.Scalar"(%arg4, %5) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %8 = "torch.aten.remainder.Scalar"(%arg4, %7) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %9 = "torch.constant.none"() : () -> !torch.none
    %10 = "torch.constant.none"() : () -> !torch.none
    %11 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
    %12 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %13 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg2, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,4,128],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
    %15 = "torch.prims.convert_element_type"(%arg2, %14) : (!torch.vtensor<[?,4,128],f32>, !torch.int) -> !torch.vtensor<[?,4,128],f16>
    %16 = "torch.constant.none"() : () -> !torch.none
    %17 = "torch.prim.ListConstruct"(%6, %16, %8) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %18 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %19 = "torch.aten.index_put"(%arg0, %17, %15, %18) : (!torch.vtensor<[?,4,32,128],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f16>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f16>
    %20 = "torch.constant.none"() : () -> !torch.none
    %21 = "torch.constant.none"() : () -> !torch.none
    %22 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %23 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %24 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %20, %21, %22, %23, %24) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %25 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %26 = "torch.aten.floor_divide.Scalar"(%arg4, %25) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %27 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %28 = "torch.aten.remainder.Scalar"(%arg4, %27) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %29 = "torch.constant.none"() : () -> !torch.none
    %30 = "torch.constant.none"() : () -> !torch.none
    %31 = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
    %32 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %33 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %29, %30, %31, %32, %33) : (!torch.vtensor<[?,4,128],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %34 = "torch.constant.int"() <{value = 5 : i64}> : () -> !torch.int
    %35 = "torch.prims.convert_element_type"(%arg3, %34) : (!torch.vtensor<[?,4,128],f32>, !torch.int) -> !torch.vtensor<[?,4,128],f16>
    %36 = "torch.constant.none"() : () -> !torch.none
    %37 = "torch.prim.ListConstruct"(%26, %36, %28) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %38 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %39 = "torch.aten.index_put"(%arg1, %37, %35, %38) : (!torch.vtensor<[?,4,32,128],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f16>, !torch.bool) -> !torch.vtensor<[?,4,32,128],f16>
    %40 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%19, %39, %40) : (!torch.vtensor<[?,4,32,128],f16>, !torch.vtensor<[?,4,32,128],f16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
