// RUN: kvfuse-opt %s -split-input-file --verify-diagnostics -pass-pipeline='builtin.module(kv-outline-writes{required=true})'

// expected-error @below {{a write was not fused, and fusing is required}}
func.func @undeclared(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

// expected-error @below {{no cache write was found, and fusing is required}}
module {
  func.func @none() {
    return
  }
}

// -----

// expected-error @below {{the name 'kvfuse' is needed for the module of cache writes}}
func.func @kvfuse() {
  return
}

// -----

module @kvfuse {
  func.func private @main()
}
// expected-error @below {{module @kvfuse has a symbol 'main' already}}
func.func @main(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}
