// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,32,4,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,4,128],bf16>, %arg1: !torch.vtensor<[?,32,4,128],bf16>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %0, %1, %2, %3, %4) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %6 = "torch.prim.NumToTensor.Scalar"(%5) : (!torch.int) -> !torch.vtensor<[],si64>
    %7 = "torch.constant.str"() <{value = "trunc"}> : () -> !torch.str
    %8 = "torch.aten.div.Tensor_mode"(%arg4, %6, %7) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %9 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %10 = "torch.aten.remainder.Scalar"(%arg4, %9) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %11 = "torch.constant.none"() : () -> !torch.none
    %12 = "torch.constant.none"() : () -> !torch.none
    %13 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %14 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %15 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg2, %11, %12, %13, %14, %15) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %16 = "torch.prim.ListConstruct"(%8, %10) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %17 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %18 = "torch.aten.index_put"(%arg0, %16, %arg2, %17) : (!torch.vtensor<[?,32,4,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,4,128],bf16>
    %19 = "torch.constant.none"() : () -> !torch.none
    %20 = "torch.constant.none"() : () -> !torch.none
    %21 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %22 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %23 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg4, %19, %20, %21, %22, %23) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %24 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %25 = "torch.prim.NumToTensor.Scalar"(%24) : (!torch.int) -> !torch.vtensor<[],si64>
    %26 = "torch.constant.str"() <{value = "trunc"}> : () -> !torch.str
    %27 = "torch.aten.div.Tensor_mode"(%arg4, %25, %26) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %28 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %29 = "torch.aten.remainder.Scalar"(%arg4, %28) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %30 = "torch.constant.none"() : () -> !torch.none
    %31 = "torch.constant.none"() : () -> !torch.none
    %32 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %33 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %34 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %30, %31, %32, %33, %34) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %35 = "torch.prim.ListConstruct"(%27, %29) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %36 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %37 = "torch.aten.index_put"(%arg1, %35, %arg3, %36) : (!torch.vtensor<[?,32,4,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,4,128],bf16>
    %38 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%18, %37, %38) : (!torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,32,4,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
