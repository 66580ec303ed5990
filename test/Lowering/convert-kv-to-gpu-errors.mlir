// RUN: kvfuse-opt %s -split-input-file --verify-diagnostics -pass-pipeline='builtin.module(convert-kv-to-gpu)'

func.func @tensors(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'kv.write' op is on tensors; it is lowered on buffers only}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
func.func @reduction(%v: memref<?xf32>, %sum: memref<f32>) {
  // expected-error @below {{'linalg.generic' op is not elementwise on buffers, so it is no kernel}}
  linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]}
      ins(%v : memref<?xf32>) outs(%sum : memref<f32>) {
  ^bb0(%e: f32, %o: f32):
    %x = arith.addf %e, %o : f32
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @branch(%v: memref<?xf32>, %twice: i1) {
  // expected-error @below {{is not elementwise on buffers}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%v : memref<?xf32>) {
  ^bb0(%x: f32):
    %y = scf.if %twice -> f32 {
      %double = arith.addf %x, %x : f32
      scf.yield %double : f32
    } else {
      scf.yield %x : f32
    }
    linalg.yield %y : f32
  }
  return
}
