// RUN: kvfuse-opt %s --verify-diagnostics -pass-pipeline='builtin.module(kv-fuse-chains)' \
// RUN:   --remark-policy=all --remarks-filter=kvfuse | FileCheck %s
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' -o /dev/null \
// RUN:   --remarks-filter=kvfuse --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=function --remark-name=mixed-division %t.yaml \
// RUN:   | FileCheck %s --check-prefix=DIVISION
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=function --remark-name=index-overflow %t.yaml \
// RUN:   | FileCheck %s --check-prefix=OVERFLOW
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=function --rremark-name='(scale-rank|cast-mode|element-scatter)' %t.yaml \
// RUN:   | FileCheck %s --check-prefix=OTHERS
// RUN: FileCheck %s --check-prefix=YAML < %t.yaml
// RUN: not kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains{required=true})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REQUIRED

// SX3: what rounds otherwise than down, or may overflow, is not composed. The
// chain stays as it is, and still runs.

// DIVISION-NOT: overflow,
// DIVISION:     mixed,2
// OTHERS-DAG:   per_head,1
// OTHERS-DAG:   rounding,1
// OTHERS-DAG:   transposed_cache,1
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

// J5: one scale for all heads goes into the region, one for each does not.
// CHECK-LABEL: func.func @per_head(
// CHECK:         kv.cast
// CHECK:         kv.write
// CHECK-NEXT:      put {{.*}} attributes {kv.refused = "scale-rank"}
func.func @per_head(%s: tensor<?xi64>, %v: tensor<?x2x8xf32>, %c: tensor<?x2x8xf8E4M3FN>, %scale: tensor<2xf32>) -> tensor<?x2x8xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %b = linalg.broadcast ins(%scale : tensor<2xf32>) outs(%e : tensor<?x2x8xf32>) dimensions = [0, 2]
  %d = arith.divf %v, %b : tensor<?x2x8xf32>
  %q = kv.cast %d saturating : tensor<?x2x8xf32> to tensor<?x2x8xf8E4M3FN>
  // expected-remark-re @below {{[Missed] scale-rank | Category:kvfuse | Function=per_head | Cause=loc("{{.*}}":{{[0-9]+}}:8), Reason="values quantised by arith.divf with a scale that differs from head to head", Suggestion="quantise with a scale of one element"}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %q : tensor<?x2x8xf8E4M3FN> into %c : tensor<?x2x8xf8E4M3FN> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x2x8xf8E4M3FN>
}

// CHECK-LABEL: func.func @rounding(
// CHECK:         arith.truncf {{.*}} toward_zero
// CHECK:         kv.write
// CHECK-NEXT:      put {{.*}} attributes {kv.refused = "cast-mode"}
func.func @rounding(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf8E4M3FN>) -> tensor<?x8xf8E4M3FN> {
  %q = arith.truncf %v toward_zero : tensor<?x8xf32> to tensor<?x8xf8E4M3FN>
  // expected-remark-re @below {{[Missed] cast-mode | Category:kvfuse | Function=rounding | Cause=loc("{{.*}}":{{[0-9]+}}:8), Reason="values rounded by arith.truncf otherwise than to nearest even", Suggestion="round to nearest even"}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %q : tensor<?x8xf8E4M3FN> into %c : tensor<?x8xf8E4M3FN> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf8E4M3FN>
}

// A cache stored transposed: neighbours in the row are no neighbours in it.
// CHECK-LABEL: func.func @transposed_cache(
// CHECK:         kv.write
// CHECK-NEXT:      put {{.*}} attributes {kv.refused = "element-scatter"}
func.func @transposed_cache(%vc: tensor<24x20xbf16>, %s: tensor<?xi64>, %v: tensor<?x24xbf16>) -> tensor<24x20xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x24xi64>
  %i = tensor.generate %t { ^bb0(%r: index, %c: index):
     %c20 = arith.constant 20 : i64
     %x = arith.index_cast %c : index to i64
     %y = arith.muli %x, %c20 : i64
     tensor.yield %y : i64 } : tensor<?x24xi64>
  %s2 = linalg.broadcast ins(%s : tensor<?xi64>) outs(%e : tensor<?x24xi64>) dimensions = [1]
  %f = arith.addi %i, %s2 : tensor<?x24xi64>
  %f1 = tensor.collapse_shape %f [[0, 1]] : tensor<?x24xi64> into tensor<?xi64>
  %v1 = tensor.collapse_shape %v [[0, 1]] : tensor<?x24xbf16> into tensor<?xbf16>
  // expected-remark-re @below {{[Missed] element-scatter | Category:kvfuse | Function=transposed_cache | Cause=loc("{{.*}}":{{[0-9]+}}:9), Reason="each index value puts one element, and the next one goes elsewhere", Suggestion="write rows that lie together in the cache"}}
  %0 = kv.write at(%f1 : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %v1 : tensor<?xbf16> into %vc : tensor<24x20xbf16> map(affine_map<(t, i) -> (i floordiv 20, i mod 20)>)
  return %0 : tensor<24x20xbf16>
}
