// KT3 of torch_writes.py. Padding is -1 and wraps.

func.func @KT3(%kc: tensor<6x4x1x8xbf16> {bufferization.writable = true}, %pi: tensor<?x?xi64>, %oi: tensor<?x?xi64>, %u: tensor<?x?x1x8xbf16>) -> tensor<6x4x1x8xbf16> {
  %0 = kv.write at(%pi, %oi : tensor<?x?xi64>, tensor<?x?xi64>) negative(wrap) out_of_bounds(trap)
    put %u : tensor<?x?x1x8xbf16> into %kc : tensor<6x4x1x8xbf16> map(affine_map<(b, t, p, o, h, d) -> (p, o, h, d)>)
  return %0 : tensor<6x4x1x8xbf16>
}
