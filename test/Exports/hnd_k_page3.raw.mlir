// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.vtensor<[?,2,7],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,2,3,7],f8E4M3FN>, %arg1: !torch.vtensor<[?,2,7],bf16>, %arg2: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 4 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg2, %0, %1, %2, %3, %4) : (!torch.vtensor<[?],si64>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
    %6 = "torch.aten.floor_divide.Scalar"(%arg2, %5) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.constant.int"() <{value = 3 : i64}> : () -> !torch.int
    %8 = "torch.aten.remainder.Scalar"(%arg2, %7) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %9 = "torch.constant.none"() : () -> !torch.none
    %10 = "torch.constant.none"() : () -> !torch.none
    %11 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %12 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %13 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg1, %9, %10, %11, %12, %13) : (!torch.vtensor<[?,2,7],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %14 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %15 = "torch.prims.convert_element_type"(%arg1, %14) : (!torch.vtensor<[?,2,7],bf16>, !torch.int) -> !torch.vtensor<[?,2,7],f8E4M3FN>
    %16 = "torch.constant.none"() : () -> !torch.none
    %17 = "torch.prim.ListConstruct"(%6, %16, %8) : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %18 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %19 = "torch.aten.index_put"(%arg0, %17, %15, %18) : (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,2,7],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,2,3,7],f8E4M3FN>
    %20 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%19, %20) : (!torch.vtensor<[?,2,3,7],f8E4M3FN>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
