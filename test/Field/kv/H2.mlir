// H2 of torch_writes.py. The window is rolled, and its last row replaced.

func.func @H2(%kc: tensor<1x3x16x8xbf16> {bufferization.writable = true}, %k: tensor<1x3x1x8xbf16>) -> tensor<1x3x16x8xbf16> {
  %e = tensor.empty() : tensor<1x3x16x8xbf16>
  %tail = tensor.extract_slice %kc[0, 0, 1, 0] [1, 3, 15, 8] [1, 1, 1, 1] : tensor<1x3x16x8xbf16> to tensor<1x3x15x8xbf16>
  %head = tensor.extract_slice %kc[0, 0, 0, 0] [1, 3, 1, 8] [1, 1, 1, 1] : tensor<1x3x16x8xbf16> to tensor<1x3x1x8xbf16>
  %n0 = tensor.insert_slice %tail into %e[0, 0, 0, 0] [1, 3, 15, 8] [1, 1, 1, 1] : tensor<1x3x15x8xbf16> into tensor<1x3x16x8xbf16>
  %n1 = tensor.insert_slice %head into %n0[0, 0, 15, 0] [1, 3, 1, 8] [1, 1, 1, 1] : tensor<1x3x1x8xbf16> into tensor<1x3x16x8xbf16>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %0 = kv.write at(%last : tensor<1xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<1x3x1x8xbf16> into %n1 : tensor<1x3x16x8xbf16>
        map(affine_map<(t, s, n, h, d) -> (n, h, s, d)>)
        order(affine_map<(t, n, h, d) -> (n, h, t, d)>)
  return %0 : tensor<1x3x16x8xbf16>
}
