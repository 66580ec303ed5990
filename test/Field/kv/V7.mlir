// V7 of torch_writes.py. Every dimension is indexed: selector, page, head and offset.

#each = affine_map<(t, h, a, b, c, d, x) -> (a, b, c, d, x)>

func.func @V7(%pool: tensor<2x6x3x4x8xbf16> {bufferization.writable = true}, %s: tensor<5xi64>, %k: tensor<5x3x8xbf16>, %v: tensor<5x3x8xbf16>) -> tensor<2x6x3x4x8xbf16> {
  %four = arith.constant dense<4> : tensor<5xi64>
  %pg = arith.floordivsi %s, %four : tensor<5xi64>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<5xi64>
  %iota = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %e = tensor.empty() : tensor<5x3xi64>
  %pg2 = linalg.broadcast ins(%pg : tensor<5xi64>) outs(%e : tensor<5x3xi64>) dimensions = [1]
  %h2 = linalg.broadcast ins(%iota : tensor<3xi64>) outs(%e : tensor<5x3xi64>) dimensions = [0]
  %of2 = linalg.broadcast ins(%of : tensor<5xi64>) outs(%e : tensor<5x3xi64>) dimensions = [1]
  %j0 = arith.constant dense<0> : tensor<5x3xi64>
  %0 = kv.write at(%j0, %pg2, %h2, %of2 : tensor<5x3xi64>, tensor<5x3xi64>, tensor<5x3xi64>, tensor<5x3xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<5x3x8xbf16> into %pool : tensor<2x6x3x4x8xbf16> map(#each)
  %j1 = arith.constant dense<1> : tensor<5x3xi64>
  %1 = kv.write at(%j1, %pg2, %h2, %of2 : tensor<5x3xi64>, tensor<5x3xi64>, tensor<5x3xi64>, tensor<5x3xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x3x8xbf16> into %0 : tensor<2x6x3x4x8xbf16> map(#each)
  return %1 : tensor<2x6x3x4x8xbf16>
}
