// LC1 of torch_writes.py. Flat rows of all heads, cast by the write.

func.func @LC1(%kc: tensor<24x24xbf16> {bufferization.writable = true}, %s: tensor<5xi64>, %k: tensor<5x3x8xf32>) -> tensor<24x24xbf16> {
  %r = tensor.collapse_shape %k [[0], [1, 2]] : tensor<5x3x8xf32> into tensor<5x24xf32>
  %x = kv.cast %r : tensor<5x24xf32> to tensor<5x24xbf16>
  %0 = kv.write at(%s : tensor<5xi64>) negative(error) out_of_bounds(trap)
    put %x : tensor<5x24xbf16> into %kc : tensor<24x24xbf16> map(affine_map<(t, s, c) -> (s, c)>)
  return %0 : tensor<24x24xbf16>
}
