// V5 of torch_writes.py. Heads are part of the index: T * H rows.

#rows = affine_map<(t, i, d) -> (i floordiv 24, (i mod 24) floordiv 4, i mod 4, d)>

func.func @V5(%kc: tensor<3x6x4x8xbf16> {bufferization.writable = true}, %vc: tensor<3x6x4x8xbf16> {bufferization.writable = true},
              %hs: tensor<15xi64>, %k: tensor<5x3x8xbf16>, %v: tensor<5x3x8xbf16>) -> (tensor<3x6x4x8xbf16>, tensor<3x6x4x8xbf16>) {
  %kf = tensor.collapse_shape %k [[0, 1], [2]] : tensor<5x3x8xbf16> into tensor<15x8xbf16>
  %0 = kv.write at(%hs : tensor<15xi64>) negative(error) out_of_bounds(trap)
    put %kf : tensor<15x8xbf16> into %kc : tensor<3x6x4x8xbf16> map(#rows)
  %vf = tensor.collapse_shape %v [[0, 1], [2]] : tensor<5x3x8xbf16> into tensor<15x8xbf16>
  %1 = kv.write at(%hs : tensor<15xi64>) negative(error) out_of_bounds(trap)
    put %vf : tensor<15x8xbf16> into %vc : tensor<3x6x4x8xbf16> map(#rows)
  return %0, %1 : tensor<3x6x4x8xbf16>, tensor<3x6x4x8xbf16>
}
