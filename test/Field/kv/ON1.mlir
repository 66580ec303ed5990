// ON1 of torch_writes.py. Positions from a start for each sequence, expanded for scatter.

func.func @ON1(%kc: tensor<2x3x16x8xbf16> {bufferization.writable = true}, %wi: tensor<2xi64>, %k: tensor<2x3x5x8xbf16>) -> tensor<2x3x16x8xbf16> {
  %iota = arith.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi64>
  %e = tensor.empty() : tensor<2x5xi64>
  %w2 = linalg.broadcast ins(%wi : tensor<2xi64>) outs(%e : tensor<2x5xi64>) dimensions = [1]
  %t2 = linalg.broadcast ins(%iota : tensor<5xi64>) outs(%e : tensor<2x5xi64>) dimensions = [0]
  %sum = arith.addi %w2, %t2 : tensor<2x5xi64>
  %ring = kv.apply affine_map<(i) -> (i mod 16)>(%sum) : tensor<2x5xi64>
  %e4 = tensor.empty() : tensor<2x3x5x8xi64>
  %i = linalg.broadcast ins(%ring : tensor<2x5xi64>) outs(%e4 : tensor<2x3x5x8xi64>) dimensions = [1, 3]
  %0 = kv.write at(%i : tensor<2x3x5x8xi64>) negative(error) out_of_bounds(trap)
    put %k : tensor<2x3x5x8xbf16> into %kc : tensor<2x3x16x8xbf16> map(affine_map<(n, h, t, d, s) -> (n, h, s, d)>)
  return %0 : tensor<2x3x16x8xbf16>
}
