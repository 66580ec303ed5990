// Made by test/Exports/export.py, do not edit.
"builtin.module"() ({
  "func.func"() <{function_type = (!torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?],si32>) -> (!torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.none), sym_name = "main"}> ({
  ^bb0(%arg0: !torch.vtensor<[?,4,128],bf16>, %arg1: !torch.vtensor<[?,4,128],bf16>, %arg2: !torch.vtensor<[?,4,128],bf16>, %arg3: !torch.vtensor<[?,4,128],bf16>, %arg4: !torch.vtensor<[?],si32>):
    %0 = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
    %1 = "torch.constant.none"() : () -> !torch.none
    %2 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si32>) -> !torch.list<vtensor>
    %3 = "torch.aten.index_put.hacked_twin"(%arg0, %2, %arg2, %0) : (!torch.vtensor<[?,4,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,4,128],bf16>
    %4 = "torch.prim.ListConstruct"(%arg4) : (!torch.vtensor<[?],si32>) -> !torch.list<vtensor>
    %5 = "torch.aten.index_put.hacked_twin"(%arg1, %4, %arg3, %0) : (!torch.vtensor<[?,4,128],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,4,128],bf16>, !torch.bool) -> !torch.vtensor<[?,4,128],bf16>
    "func.return"(%3, %5, %1) : (!torch.vtensor<[?,4,128],bf16>, !torch.vtensor<[?,4,128],bf16>, !torch.none) -> ()
  }) : () -> ()
}) : () -> ()
