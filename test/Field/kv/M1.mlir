// M1 of torch_writes.py. One pool for K, V and all layers; page and offset are inputs.

#pair = affine_map<(t, p, o, h, d) -> (p, o, h, d)>

func.func @M1(%pool: tensor<2x2x6x4x3x8xbf16> {bufferization.writable = true}, %bi: tensor<5xi64>, %oi: tensor<5xi64>,
              %k: tensor<5x1x3x8xbf16>, %v: tensor<5x1x3x8xbf16>) -> tensor<2x2x6x4x3x8xbf16> {
  %b = tensor.extract_slice %bi[0] [4] [1] : tensor<5xi64> to tensor<4xi64>
  %o = tensor.extract_slice %oi[0] [4] [1] : tensor<5xi64> to tensor<4xi64>
  %kc = tensor.extract_slice %pool[0, 1, 0, 0, 0, 0] [1, 1, 6, 4, 3, 8] [1, 1, 1, 1, 1, 1] : tensor<2x2x6x4x3x8xbf16> to tensor<6x4x3x8xbf16>
  %ks = tensor.extract_slice %k[0, 0, 0, 0] [4, 1, 3, 8] [1, 1, 1, 1] : tensor<5x1x3x8xbf16> to tensor<4x3x8xbf16>
  %kc1 = kv.write at(%b, %o : tensor<4xi64>, tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %ks : tensor<4x3x8xbf16> into %kc : tensor<6x4x3x8xbf16> map(#pair)
  %pool1 = tensor.insert_slice %kc1 into %pool[0, 1, 0, 0, 0, 0] [1, 1, 6, 4, 3, 8] [1, 1, 1, 1, 1, 1] : tensor<6x4x3x8xbf16> into tensor<2x2x6x4x3x8xbf16>
  %vc = tensor.extract_slice %pool1[1, 1, 0, 0, 0, 0] [1, 1, 6, 4, 3, 8] [1, 1, 1, 1, 1, 1] : tensor<2x2x6x4x3x8xbf16> to tensor<6x4x3x8xbf16>
  %vs = tensor.extract_slice %v[0, 0, 0, 0] [4, 1, 3, 8] [1, 1, 1, 1] : tensor<5x1x3x8xbf16> to tensor<4x3x8xbf16>
  %vc1 = kv.write at(%b, %o : tensor<4xi64>, tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %vs : tensor<4x3x8xbf16> into %vc : tensor<6x4x3x8xbf16> map(#pair)
  %pool2 = tensor.insert_slice %vc1 into %pool1[1, 1, 0, 0, 0, 0] [1, 1, 6, 4, 3, 8] [1, 1, 1, 1, 1, 1] : tensor<6x4x3x8xbf16> into tensor<2x2x6x4x3x8xbf16>
  return %pool2 : tensor<2x2x6x4x3x8xbf16>
}
