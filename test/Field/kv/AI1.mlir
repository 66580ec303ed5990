// AI1 of torch_writes.py. Written in a copy of another layout, and viewed back.

func.func @AI1(%kc: tensor<6x3x2x4x4xbf16> {bufferization.writable = true}, %s: tensor<5xi64>, %k: tensor<5x3x8xbf16>) -> tensor<6x3x2x4x4xbf16> {
  %e = tensor.empty() : tensor<6x4x3x2x4xbf16>
  %f = linalg.transpose ins(%kc : tensor<6x3x2x4x4xbf16>) outs(%e : tensor<6x4x3x2x4xbf16>) permutation = [0, 3, 1, 2, 4]
  %rows = tensor.collapse_shape %f [[0, 1], [2], [3, 4]] : tensor<6x4x3x2x4xbf16> into tensor<24x3x8xbf16>
  %w = kv.write at(%s : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<5x3x8xbf16> into %rows : tensor<24x3x8xbf16> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  %g = tensor.expand_shape %w [[0, 1], [2], [3, 4]] output_shape [6, 4, 3, 2, 4] : tensor<24x3x8xbf16> into tensor<6x4x3x2x4xbf16>
  %b = tensor.empty() : tensor<6x3x2x4x4xbf16>
  %0 = linalg.transpose ins(%g : tensor<6x4x3x2x4xbf16>) outs(%b : tensor<6x3x2x4x4xbf16>) permutation = [0, 2, 3, 1, 4]
  return %0 : tensor<6x3x2x4x4xbf16>
}
