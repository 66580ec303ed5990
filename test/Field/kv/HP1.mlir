// HP1 of torch_writes.py. Page and offset are inputs.

func.func @HP1(%kc: tensor<6x4x3x8xbf16> {bufferization.writable = true}, %bi: tensor<?xi64>, %oi: tensor<?xi64>, %k: tensor<?x3x8xbf16>) -> tensor<6x4x3x8xbf16> {
  %0 = kv.write at(%bi, %oi : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x3x8xbf16> into %kc : tensor<6x4x3x8xbf16> map(affine_map<(t, p, o, h, d) -> (p, o, h, d)>)
  return %0 : tensor<6x4x3x8xbf16>
}
