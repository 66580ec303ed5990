// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(func.func(kv-expand-casts))' -verify-diagnostics -split-input-file

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xbf16> {
  // expected-error @+1 {{'kv.cast' op expects scalars or vectors, to be computed in integers}}
  %y = kv.cast %x : tensor<4xf32> to tensor<4xbf16>
  return %y : tensor<4xbf16>
}
