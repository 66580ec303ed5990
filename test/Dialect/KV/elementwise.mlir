// Upstream's lowering of elementwise operations takes kv.apply and kv.cast on
// tensors along; what is inside is on scalars, to be lowered as such.
// RUN: kvfuse-opt %s --convert-elementwise-to-linalg --split-input-file | FileCheck %s

// CHECK: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1) -> ((d0 mod 32) * 132 + d1)>
// CHECK-LABEL: func.func @apply
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[P:[^:]*]]: tensor<?xi64>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]]], iterator_types = ["parallel"]}
// CHECK-SAME:      ins(%[[S]], %[[P]] : tensor<?xi64>, tensor<?xi64>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: i64, %[[Y:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT:      %[[R:.*]] = kv.apply #[[SUM]](%[[X]], %[[Y]]) : i64
// CHECK-NEXT:      linalg.yield %[[R]] : i64
func.func @apply(%s: tensor<?xi64>, %p: tensor<?xi64>) -> tensor<?xi64> {
  %0 = kv.apply affine_map<(s, p) -> ((s mod 32) * 132 + p)>(%s, %p) : tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// CHECK-LABEL: func.func @cast
// CHECK-SAME:    %[[V:[^:]*]]: tensor<?x4x128xbf16>
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x4x128xf8E4M3FN>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME:      ins(%[[V]] : tensor<?x4x128xbf16>) outs(%[[EMPTY]] : tensor<?x4x128xf8E4M3FN>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: bf16, %{{.*}}: f8E4M3FN):
// CHECK-NEXT:      %[[R:.*]] = kv.cast %[[X]] saturating : bf16 to f8E4M3FN
// CHECK-NEXT:      linalg.yield %[[R]] : f8E4M3FN
func.func @cast(%v: tensor<?x4x128xbf16>) -> tensor<?x4x128xf8E4M3FN> {
  %0 = kv.cast %v saturating : tensor<?x4x128xbf16> to tensor<?x4x128xf8E4M3FN>
  return %0 : tensor<?x4x128xf8E4M3FN>
}

// -----

// Scalars and vectors stay.
// CHECK-LABEL: func.func @others
// CHECK:         kv.apply {{.*}} : i64
// CHECK:         kv.apply {{.*}} : vector<4xi64>
// CHECK:         kv.cast {{.*}} : f32 to f16
func.func @others(%x: i64, %v: vector<4xi64>, %f: f32) -> (i64, vector<4xi64>, f16) {
  %0 = kv.apply affine_map<(s) -> (s mod 3)>(%x) : i64
  %1 = kv.apply affine_map<(s) -> (s mod 3)>(%v) : vector<4xi64>
  %2 = kv.cast %f : f32 to f16
  return %0, %1, %2 : i64, vector<4xi64>, f16
}
