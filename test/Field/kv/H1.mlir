// H1 of torch_writes.py. index_copy_ on the positions.

#rows = affine_map<(t, s, n, h, d) -> (n, h, s, d)>
#order = affine_map<(t, n, h, d) -> (n, h, t, d)>

func.func @H1(%kc: tensor<1x3x16x8xbf16> {bufferization.writable = true}, %vc: tensor<1x3x16x8xbf16> {bufferization.writable = true},
              %pos: tensor<?xi64>, %k: tensor<1x3x?x8xbf16>, %v: tensor<1x3x?x8xbf16>) -> (tensor<1x3x16x8xbf16>, tensor<1x3x16x8xbf16>) {
  %0 = kv.write at(%pos : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %k : tensor<1x3x?x8xbf16> into %kc : tensor<1x3x16x8xbf16> map(#rows) order(#order)
  %1 = kv.write at(%pos : tensor<?xi64>) negative(error) out_of_bounds(trap)
    put %v : tensor<1x3x?x8xbf16> into %vc : tensor<1x3x16x8xbf16> map(#rows) order(#order)
  return %0, %1 : tensor<1x3x16x8xbf16>, tensor<1x3x16x8xbf16>
}
