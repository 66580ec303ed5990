// RUN: kvfuse-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s

// Index tensors are repeated along each other: sizes of 1 and absent dimensions.

// CHECK: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME:    %[[PAGE:[^:]+]]: tensor<?x1xi64>, %[[HEAD:[^:]+]]: tensor<3xi64>,
// CHECK:         %[[PAGES:.+]] = tensor.collapse_shape %[[PAGE]] {{\[\[}}0, 1]] : tensor<?x1xi64> into tensor<?xi64>
// CHECK:         %[[A:.+]] = linalg.broadcast ins(%[[PAGES]] : tensor<?xi64>) outs(%{{.+}} : tensor<?x3xi64>) dimensions = [1]
// CHECK:         %[[T:.+]] = tensor.dim %[[PAGE]], %c0
// CHECK:         %[[INIT:.+]] = tensor.empty(%[[T]]) : tensor<?x3xi64>
// CHECK:         %[[B:.+]] = linalg.broadcast ins(%[[HEAD]] : tensor<3xi64>) outs(%[[INIT]] : tensor<?x3xi64>) dimensions = [0]
// CHECK:         kv.write at(%[[A]], %[[B]] : tensor<?x3xi64>, tensor<?x3xi64>)
// CHECK-NEXT:      put %{{.+}} : tensor<?x3x16xbf16> into %{{.+}} map(#[[$MAP]]){{$}}
func.func @broadcast(%page: !torch.vtensor<[?,1],si64>, %head: !torch.vtensor<[3],si64>, %cache: !torch.vtensor<[8,3,16],bf16>, %rows: !torch.vtensor<[?,3,16],bf16>) -> !torch.vtensor<[8,3,16],bf16> {
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %list = "torch.prim.ListConstruct"(%page, %head) : (!torch.vtensor<[?,1],si64>, !torch.vtensor<[3],si64>) -> !torch.list<vtensor>
  %0 = "torch.aten.index_put"(%cache, %list, %rows, %false) : (!torch.vtensor<[8,3,16],bf16>, !torch.list<vtensor>, !torch.vtensor<[?,3,16],bf16>, !torch.bool) -> !torch.vtensor<[8,3,16],bf16>
  return %0 : !torch.vtensor<[8,3,16],bf16>
}
