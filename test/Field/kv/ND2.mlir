// ND2 of torch_writes.py. Indices expanded over heads; padding redirected to the last slot.

func.func @ND2(%kc: tensor<6x3x4x8xbf16> {bufferization.writable = true}, %s: tensor<1x5xi64>, %k: tensor<1x3x5x8xbf16>) -> tensor<6x3x4x8xbf16> {
  %none = arith.constant dense<-1> : tensor<1x5xi64>
  %last = arith.constant dense<23> : tensor<1x5xi64>
  %pad = arith.cmpi eq, %s, %none : tensor<1x5xi64>
  %r = arith.select %pad, %last, %s : tensor<1x5xi1>, tensor<1x5xi64>
  %e = tensor.empty() : tensor<1x3x5xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%r) : tensor<1x5xi64>
  %p3 = linalg.broadcast ins(%p : tensor<1x5xi64>) outs(%e : tensor<1x3x5xi64>) dimensions = [1]
  %iota = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %h3 = linalg.broadcast ins(%iota : tensor<3xi64>) outs(%e : tensor<1x3x5xi64>) dimensions = [0, 2]
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%r) : tensor<1x5xi64>
  %o3 = linalg.broadcast ins(%o : tensor<1x5xi64>) outs(%e : tensor<1x3x5xi64>) dimensions = [1]
  %0 = kv.write at(%p3, %h3, %o3 : tensor<1x3x5xi64>, tensor<1x3x5xi64>, tensor<1x3x5xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<1x3x5x8xbf16> into %kc : tensor<6x3x4x8xbf16>
        map(affine_map<(n, a, t, p, h, o, d) -> (p, h, o, d)>)
  return %0 : tensor<6x3x4x8xbf16>
}
