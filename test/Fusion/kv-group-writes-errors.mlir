// RUN: kvfuse-opt %s --allow-unregistered-dialect --verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(kv-group-writes{required=true})'
// RUN: kvfuse-opt %s --allow-unregistered-dialect -pass-pipeline='builtin.module(kv-group-writes)' -o /dev/null \
// RUN:   --remarks-filter=kvfuse --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=total --remark-name=order %t.yaml | FileCheck %s

// CHECK: 1

func.func @order(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%0) : (tensor<?x8xf32>) -> ()
  %x = "unknown.make"() : () -> tensor<?x8xf32>
  // expected-error @below {{the write was not grouped with the one before it, and fusing is required}}
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %vc : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
