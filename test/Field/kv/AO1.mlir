// AO1 of torch_writes.py. The same through the operation itself.

func.func @AO1(%kc: tensor<1x3x16x8xbf16> {bufferization.writable = true}, %pos: tensor<?xi64>, %k: tensor<1x3x?x8xbf16>) -> tensor<1x3x16x8xbf16> {
  %0 = kv.write at(%pos : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<1x3x?x8xbf16> into %kc : tensor<1x3x16x8xbf16>
        map(affine_map<(t, s, n, h, d) -> (n, h, s, d)>)
        order(affine_map<(t, n, h, d) -> (n, h, t, d)>)
  return %0 : tensor<1x3x16x8xbf16>
}
