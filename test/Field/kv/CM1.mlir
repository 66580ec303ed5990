// CM1 of torch_writes.py. Positions are the innermost dimension.

func.func @CM1(%kc: tensor<2x3x1x8x16xbf16> {bufferization.writable = true}, %pos: tensor<5xi64>, %k: tensor<1x1x8x5xbf16>) -> tensor<2x3x1x8x16xbf16> {
  %c = tensor.extract_slice %kc[1, 2, 0, 0, 0] [1, 1, 1, 8, 16] [1, 1, 1, 1, 1] : tensor<2x3x1x8x16xbf16> to tensor<1x8x16xbf16>
  %r = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x1x8x5xbf16> into tensor<1x8x5xbf16>
  %c1 = kv.write at(%pos : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %r : tensor<1x8x5xbf16> into %c : tensor<1x8x16xbf16>
        map(affine_map<(t, s, a, d) -> (a, d, s)>)
        order(affine_map<(t, a, d) -> (a, d, t)>)
  %0 = tensor.insert_slice %c1 into %kc[1, 2, 0, 0, 0] [1, 1, 1, 8, 16] [1, 1, 1, 1, 1] : tensor<1x8x16xbf16> into tensor<2x3x1x8x16xbf16>
  return %0 : tensor<2x3x1x8x16xbf16>
}
