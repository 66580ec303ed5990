// V1b of torch_writes.py. The caches of V1 without the loop.

func.func @V1b(%kc: tensor<6x3x2x4x4xbf16> {bufferization.writable = true}, %vc: tensor<6x3x8x4xbf16> {bufferization.writable = true},
               %s: tensor<5xi64>, %k: tensor<5x3x8xbf16>, %v: tensor<5x3x8xbf16>) -> (tensor<6x3x2x4x4xbf16>, tensor<6x3x8x4xbf16>) {
  %four = arith.constant dense<4> : tensor<5xi64>
  %pg = arith.floordivsi %s, %four : tensor<5xi64>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<5xi64>
  %k4 = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [5, 3, 2, 4] : tensor<5x3x8xbf16> into tensor<5x3x2x4xbf16>
  %0 = kv.write at(%pg, %of : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %k4 : tensor<5x3x2x4xbf16> into %kc : tensor<6x3x2x4x4xbf16>
        map(affine_map<(t, p, o, h, c, x) -> (p, h, c, o, x)>)
  %1 = kv.write at(%pg, %of : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x3x8xbf16> into %vc : tensor<6x3x8x4xbf16>
        map(affine_map<(t, p, o, h, d) -> (p, h, d, o)>)
  return %0, %1 : tensor<6x3x2x4x4xbf16>, tensor<6x3x8x4xbf16>
}
