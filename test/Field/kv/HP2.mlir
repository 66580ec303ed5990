// HP2 of torch_writes.py. Whole pages.

func.func @HP2(%kc: tensor<6x4x3x8xbf16> {bufferization.writable = true}, %bi: tensor<?xi64>, %k: tensor<?x4x3x8xbf16>) -> tensor<6x4x3x8xbf16> {
  %0 = kv.write at(%bi : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %k : tensor<?x4x3x8xbf16> into %kc : tensor<6x4x3x8xbf16> map(affine_map<(t, b, p, h, d) -> (b, p, h, d)>)
  return %0 : tensor<6x4x3x8xbf16>
}
