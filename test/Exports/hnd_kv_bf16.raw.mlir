// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,128],bf16>, !torch.vtensor<[?,8,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,32,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,8,32,128],bf16>, %arg1: !torch.vtensor<[?,8,32,128],bf16>, %arg2: !torch.vtensor<[?,8,128],bf16>, %arg3: !torch.vtensor<[?,8,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
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
    "torch.aten._assert_tensor_metadata"(%arg2, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,8,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.none"() : () -> !torch.none
    %15 = "torch.prim.ListConstruct"(%6, %14, %8) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %16 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %17 = "torch.aten.index_put"(%arg0, %15, %arg2, %16) : (!torch.vtensor<[?,8,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,8,32,128],bf16>
    %18 = "torch.constant.none"() : () -> !torch.none
    %19 = "torch.constant.none"() : () -> !torch.none
    %20 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %21 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %22 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %18, %19, %20, %21, %22) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %23 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %24 = "torch.aten.floor_divide.Scalar"(%arg4, %23) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %25 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %26 = "torch.aten.remainder.Scalar"(%arg4, %25) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %27 = "torch.constant.none"() : () -> !torch.none
    %28 = "torch.constant.none"() : () -> !torch.none
    %29 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %30 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %31 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %27, %28, %29, %30, %31) : (!torch.vtensor<[?,8,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %32 = "torch.constant.none"() : () -> !torch.none
    %33 = "torch.prim.ListConstruct"(%24, %32, %26) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %34 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %35 = "torch.aten.index_put"(%arg1, %33, %arg3, %34) : (!torch.vtensor<[?,8,32,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,8,128],bf16>, !torch.bool) -> !torch.vtensor<[?,8,32,128],bf16>
    %36 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%17, %35, %36) : (!torch.vtensor<[?,8,32,128],bf16>, !torch.vtensor<[?,8,32,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
