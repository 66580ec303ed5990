// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,32,4,128],f8E5M2>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,4,128],f8E5M2>, %arg1: !torch.vtensor<[?,32,4,128],f8E5M2>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
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
    %11 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %12 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %13 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg2, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
    %15 = "torch.prims.convert_element_type"(%arg2, %14) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E5M2>
    %16 = "torch.prim.ListConstruct"(%6, %8) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %17 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %18 = "torch.aten.index_put"(%arg0, %16, %15, %17) : (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E5M2>
    %19 = "torch.constant.none"() : () -> !torch.none
    %20 = "torch.constant.none"() : () -> !torch.none
    %21 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %22 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %23 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %19, %20, %21, %22, %23) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %24 = "torch.constant.int"() <{value = 23 : i64}> : () -> !torch.int
    %25 = "torch.prims.convert_element_type"(%arg3, %24) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E5M2>
    %26 = "torch.prim.ListConstruct"(%6, %8) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %27 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %28 = "torch.aten.index_put"(%arg1, %26, %25, %27) : (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E5M2>, !torch.bool) -> !torch.vtensor<[?,32,4,128],f8E5M2>
    %29 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%18, %28, %29) : (!torch.vtensor<[?,32,4,128],f8E5M2>, !torch.vtensor<[?,32,4,128],f8E5M2>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
