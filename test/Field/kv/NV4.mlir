// NV4 of torch_writes.py. Flat pool, rows viewed and cast in the call.

#flat = affine_map<(t, s, h, d) -> (s, h, d)>

func.func @NV4(%kc: tensor<24x3x8xbf16> {bufferization.writable = true}, %vc: tensor<24x3x8xbf16> {bufferization.writable = true},
               %s: tensor<5xi32>, %k: tensor<5x24xf32>, %v: tensor<5x24xf32>) -> (tensor<24x3x8xbf16>, tensor<24x3x8xbf16>) {
  %i = arith.extsi %s : tensor<5xi32> to tensor<5xi64>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [5, 3, 8] : tensor<5x24xf32> into tensor<5x3x8xf32>
  %kb = kv.cast %k3 : tensor<5x3x8xf32> to tensor<5x3x8xbf16>
  %0 = kv.write at(%i : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %kb : tensor<5x3x8xbf16> into %kc : tensor<24x3x8xbf16> map(#flat)
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [5, 3, 8] : tensor<5x24xf32> into tensor<5x3x8xf32>
  %vb = kv.cast %v3 : tensor<5x3x8xf32> to tensor<5x3x8xbf16>
  %1 = kv.write at(%i : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %vb : tensor<5x3x8xbf16> into %vc : tensor<24x3x8xbf16> map(#flat)
  return %0, %1 : tensor<24x3x8xbf16>, tensor<24x3x8xbf16>
}
