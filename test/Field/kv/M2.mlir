// M2 of torch_writes.py. The number that selects K or V stands between the two index tensors.

#head_major = affine_map<(t, p, o, h, d) -> (p, h, o, d)>

func.func @M2(%pool: tensor<6x2x3x4x8xbf16> {bufferization.writable = true}, %bi: tensor<?xi64>, %oi: tensor<?xi64>,
              %k: tensor<?x3x8xbf16>, %v: tensor<?x3x8xbf16>) -> tensor<6x2x3x4x8xbf16> {
  %kc = tensor.extract_slice %pool[0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
  %kc1 = kv.write at(%bi, %oi : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x3x8xbf16> into %kc : tensor<6x3x4x8xbf16> map(#head_major)
  %pool1 = tensor.insert_slice %kc1 into %pool[0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x3x4x8xbf16> into tensor<6x2x3x4x8xbf16>
  %vc = tensor.extract_slice %pool1[0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
  %vc1 = kv.write at(%bi, %oi : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x3x8xbf16> into %vc : tensor<6x3x4x8xbf16> map(#head_major)
  %pool2 = tensor.insert_slice %vc1 into %pool1[0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x3x4x8xbf16> into tensor<6x2x3x4x8xbf16>
  return %pool2 : tensor<6x2x3x4x8xbf16>
}
