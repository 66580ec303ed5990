// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains,kv-fold-repeated-writes)' | FileCheck %s

// A write that the program repeats on its own result, with page and offset
// computed again, is folded away; anything else that differs keeps it.

#pair = affine_map<(t, p, o, d) -> (p, o, d)>

// CHECK-LABEL: func @repeated
// CHECK:         %[[NEW:.*]] = kv.write at(%{{.*}} : tensor<?xi64>)
// CHECK-NOT:     kv.write
// CHECK:         return %[[NEW]]
func.func @repeated(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x4x8xf32> map(#pair)
  %q = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %r = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
  %1 = kv.write at(%q, %r : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<?x4x8xf32> map(#pair)
  return %1 : tensor<?x4x8xf32>
}

// Other values, or another policy.
// CHECK-LABEL: func @not_repeated
// CHECK-COUNT-3: kv.write
// CHECK:         return
func.func @not_repeated(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %w: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %w : tensor<?x8xf32> into %1 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %2 : tensor<?x8xf32>
}

// The first and the third are equal, but another write stands between.
// CHECK-LABEL: func @overwritten_between
// CHECK-COUNT-3: kv.write
// CHECK:         return
func.func @overwritten_between(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %w: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %1 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %2 : tensor<?x8xf32>
}
