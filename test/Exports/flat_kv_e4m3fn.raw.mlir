// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,128],f8E4M3FN>, %arg1: !torch.vtensor<[?,4,128],f8E4M3FN>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.constant.none"() : () -> !torch.none
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %3 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %4 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg2, %0, %1, %2, %3, %4) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %5 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %6 = "torch.prims.convert_element_type"(%arg2, %5) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %7 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %8 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %9 = "torch.aten.index_put"(%arg0, %7, %6, %8) : (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %10 = "torch.constant.none"() : () -> !torch.none
    %11 = "torch.constant.none"() : () -> !torch.none
    %12 = "torch.constant.int"() <{value = 15 : i64}> : () -> !torch.int
    %13 = "torch.constant.device"() <{value = "cpu"}> : () -> !torch.Device
    %14 = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
    "torch.aten._assert_tensor_metadata"(%arg3, %10, %11, %12, %13, %14) : (!torch.vtensor<[?,4,128],bf16>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int) -> ()
    %15 = "torch.constant.int"() <{value = 24 : i64}> : () -> !torch.int
    %16 = "torch.prims.convert_element_type"(%arg3, %15) : (!torch.vtensor<[?,4,128],bf16>, !torch.int) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %17 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
    %18 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %19 = "torch.aten.index_put"(%arg1, %17, %16, %18) : (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.bool) -> !torch.vtensor<[?,4,128],f8E4M3FN>
    %20 = "torch.constant.none"() : () -> !torch.none
    "func.return"(%9, %19, %20) : (!torch.vtensor<[?,4,128],f8E4M3FN>, !torch.vtensor<[?,4,128],f8E4M3FN>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
