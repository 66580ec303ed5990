// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,32,4,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,32,4,128],bf16>, %arg1: !torch.vtensor<[?,32,4,128],bf16>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si64>):
    %0 = "torch.vtensor.literal"() <{value = dense<32> : tensor<si64>}> : () -> !torch.vtensor<[],si64>
    %1 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %2 = "torch.constant.str"() <{value = "trunc"}> : () -> !torch.str
    %3 = "torch.constant.int"() <{value = 32 : i64}> : () -> !torch.int
    %4 = "torch.constant.none"() : () -> !torch.none
    %5 = "torch.aten.div.Tensor_mode"(%arg4, %0, %2) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %6 = "torch.aten.remainder.Scalar"(%arg4, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %7 = "torch.prim.ListConstruct"(%5, %6) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %8 = "torch.aten.index_put.hacked_twin"(%arg0, %7, %arg2, %1) : (!torch.vtensor<[?,32,4,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,4,128],bf16>
    %9 = "torch.aten.div.Tensor_mode"(%arg4, %0, %2) : (!torch.vtensor<[?],si64>, !torch.vtensor<[],si64>, !torch.str) -> !torch.vtensor<[?],si64>
    %10 = "torch.aten.remainder.Scalar"(%arg4, %3) : (!torch.vtensor<[?],si64>, !torch.int) -> !torch.vtensor<[?],si64>
    %11 = "torch.prim.ListConstruct"(%9, %10) : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<vtensor>
    %12 = "torch.aten.index_put.hacked_twin"(%arg1, %11, %arg3, %1) : (!torch.vtensor<[?,32,4,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,32,4,128],bf16>
    "func.return"(%8, %12, %4) : (!torch.vtensor<[?,32,4,128],bf16>, !torch.vtensor<[?,32,4,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
