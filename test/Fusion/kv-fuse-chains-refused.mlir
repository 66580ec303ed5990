// RUN: kvfuse-opt %s --verify-diagnostics -pass-pipeline='builtin.module(kv-fuse-chains)' \
// RUN:   --remark-policy=all --remarks-filter=kvfuse | FileCheck %s
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' -o /dev/null \
// RUN:   --remarks-filter=kvfuse --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=function --remark-name=mixed-division %t.yaml \
// RUN:   | FileCheck %s --check-prefix=DIVISION
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=function --remark-name=index-overflow %t.yaml \
// RUN:   | FileCheck %s --check-prefix=OVERFLOW
// RUN: FileCheck %s --check-prefix=YAML < %t.yaml
// RUN: not kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains{required=true})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REQUIRED

// SX3: what rounds otherwise than down, or may overflow, is not composed. The
// chain stays as it is, and still runs.

// DIVISION-NOT: overflow,
// DIVISION:     mixed,2
// OVERFLOW-NOT: mixed,
// OVERFLOW:     overflow,2

// YAML:      --- !Missed
// YAML-NEXT: Pass: {{ *}}kvfuse
// YAML-NEXT: Name: {{ *}}mixed-division
// YAML-NEXT: DebugLoc: {{.*}}kv-fuse-chains-refused.mlir{{.*}}
// YAML-NEXT: Line: [[#@LINE+21]], Column: 8
// YAML-NEXT: Function: {{ *}}mixed

// REQUIRED: kv-fuse-chains-refused.mlir:[[#@LINE+18]]:{{.*}}error: the write was not fused, and fusing is required

// CHECK-LABEL: func.func @mixed(
// CHECK:         %[[P:.*]] = arith.divsi
// CHECK:         %[[O:.*]] = kv.apply
// CHECK:         %[[X:.*]] = kv.cast
// CHECK:         kv.write at(%[[P]], %[[O]] : tensor<6xi64>, tensor<6xi64>)
// CHECK-NEXT:      put %[[X]] : {{.*}} attributes {kv.refused = "mixed-division"}
// CHECK:         %[[Q:.*]] = kv.apply
// CHECK:         %[[R:.*]] = arith.remui
// CHECK:         kv.write at(%[[Q]], %[[R]] :
// CHECK-NEXT:      put %[[X]] : {{.*}} attributes {kv.refused = "mixed-division"}
func.func @mixed(%s: tensor<6xi64>, %v: tensor<6x8xf32>, %c: tensor<?x4x8xbf16>) -> tensor<?x4x8xbf16> {
  %four = arith.constant dense<4> : tensor<6xi64>
  %p = arith.divsi %s, %four : tensor<6xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<6xi64>
  %x = kv.cast %v : tensor<6x8xf32> to tensor<6x8xbf16>
  // expected-remark-re @below {{[Missed] mixed-division | Category:kvfuse | Function=mixed | Cause=loc("{{.*}}":{{[0-9]+}}:8), Reason="index computed by arith.divsi, which does not round down, from values that may be negative", Suggestion="divide with rounding down, or promise that no index is negative (negative=undefined)"}}
  %0 = kv.write at(%p, %o : tensor<6xi64>, tensor<6xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<6x8xbf16> into %c : tensor<?x4x8xbf16> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  %q = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<6xi64>
  %r = arith.remui %s, %four : tensor<6xi64>
  // expected-remark @below {{index computed by arith.remui}}
  %1 = kv.write at(%q, %r : tensor<6xi64>, tensor<6xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<6x8xbf16> into %0 : tensor<?x4x8xbf16> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %1 : tensor<?x4x8xbf16>
}

// CHECK-LABEL: func.func @overflow(
// CHECK:         %[[M:.*]] = arith.muli
// CHECK:         kv.write at(%[[M]] : tensor<6xi32>)
// CHECK-NEXT:      put {{.*}} attributes {kv.refused = "index-overflow"}
// CHECK:         %[[T:.*]] = arith.trunci
// CHECK:         kv.write at(%[[T]] : tensor<6xi32>)
// CHECK-NEXT:      put {{.*}} attributes {kv.refused = "index-overflow"}
func.func @overflow(%i: tensor<6xi32>, %l: tensor<6xi64>, %v: tensor<6x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %eight = arith.constant dense<8> : tensor<6xi32>
  %m = arith.muli %i, %eight : tensor<6xi32>
  // expected-remark @below {{[Missed] index-overflow | Category:kvfuse | Function=overflow}}
  %0 = kv.write at(%m : tensor<6xi32>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<6x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %t = arith.trunci %l : tensor<6xi64> to tensor<6xi32>
  // expected-remark @below {{index computed by arith.trunci}}
  %1 = kv.write at(%t : tensor<6xi32>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<6x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %1 : tensor<?x8xf32>
}
