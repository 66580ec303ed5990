// LG2 of torch_writes.py. One index_copy_ for each sequence.

#rows = affine_map<(t, s, h, d) -> (h, s, d)>
#order = affine_map<(t, h, d) -> (h, t, d)>

func.func @LG2(%kc: tensor<2x3x16x8xbf16> {bufferization.writable = true}, %pos: tensor<2x2xi64>, %k: tensor<2x3x2x8xbf16>) -> tensor<2x3x16x8xbf16> {
  %c0 = tensor.extract_slice %kc[0, 0, 0, 0] [1, 3, 16, 8] [1, 1, 1, 1] : tensor<2x3x16x8xbf16> to tensor<3x16x8xbf16>
  %p0 = tensor.extract_slice %pos[0, 0] [1, 2] [1, 1] : tensor<2x2xi64> to tensor<2xi64>
  %k0 = tensor.extract_slice %k[0, 0, 0, 0] [1, 3, 2, 8] [1, 1, 1, 1] : tensor<2x3x2x8xbf16> to tensor<3x2x8xbf16>
  %w0 = kv.write at(%p0 : tensor<2xi64>) negative(error) out_of_bounds(trap)
    put %k0 : tensor<3x2x8xbf16> into %c0 : tensor<3x16x8xbf16> map(#rows) order(#order)
  %0 = tensor.insert_slice %w0 into %kc[0, 0, 0, 0] [1, 3, 16, 8] [1, 1, 1, 1] : tensor<3x16x8xbf16> into tensor<2x3x16x8xbf16>
  %c1 = tensor.extract_slice %0[1, 0, 0, 0] [1, 3, 16, 8] [1, 1, 1, 1] : tensor<2x3x16x8xbf16> to tensor<3x16x8xbf16>
  %p1 = tensor.extract_slice %pos[1, 0] [1, 2] [1, 1] : tensor<2x2xi64> to tensor<2xi64>
  %k1 = tensor.extract_slice %k[1, 0, 0, 0] [1, 3, 2, 8] [1, 1, 1, 1] : tensor<2x3x2x8xbf16> to tensor<3x2x8xbf16>
  %w1 = kv.write at(%p1 : tensor<2xi64>) negative(error) out_of_bounds(trap)
    put %k1 : tensor<3x2x8xbf16> into %c1 : tensor<3x16x8xbf16> map(#rows) order(#order)
  %1 = tensor.insert_slice %w1 into %0[1, 0, 0, 0] [1, 3, 16, 8] [1, 1, 1, 1] : tensor<3x16x8xbf16> into tensor<2x3x16x8xbf16>
  return %1 : tensor<2x3x16x8xbf16>
}
