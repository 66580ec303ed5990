// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si32>) -> (!torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,128],bf16>, %arg1: !torch.vtensor<[?,4,128],bf16>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si32>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg2, %0, %1, %2, %3, %4) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si32>) -> !torch.list<optional<vtensor>>
    %6 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %7 = "torch.aten.index_put"(%arg0, %5, %arg2, %6) : (!torch.vtensor<[?,4,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,4,128],bf16>
    %8 = "torch.constant.none"() : () -> !torch.none
    %9 = "torch.constant.none"() : () -> !torch.none
    %10 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %11 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %12 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %8, %9, %10, %11, %12) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %13 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si32>) -> !torch.list<optional<vtensor>>
    %14 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %15 = "torch.aten.index_put"(%arg1, %13, %arg3, %14) : (!torch.vtensor<[?,4,128],bf16>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,4,128],bf16>
    %16 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%7, %15, %16) : (!torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
