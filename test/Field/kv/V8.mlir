// V8 of torch_writes.py. Index tensors repeated for each head.

func.func @V8(%kc: tensor<6x3x4x8xbf16> {bufferization.writable = true}, %s: tensor<5xi64>, %k: tensor<1x3x5x8xbf16>) -> tensor<6x3x4x8xbf16> {
  %e = tensor.empty() : tensor<3x5xi64>
  %iota = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %h2 = linalg.broadcast ins(%iota : tensor<3xi64>) outs(%e : tensor<3x5xi64>) dimensions = [1]
  %h = tensor.collapse_shape %h2 [[0, 1]] : tensor<3x5xi64> into tensor<15xi64>
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<5xi64>
  %p2 = linalg.broadcast ins(%p : tensor<5xi64>) outs(%e : tensor<3x5xi64>) dimensions = [0]
  %page = tensor.collapse_shape %p2 [[0, 1]] : tensor<3x5xi64> into tensor<15xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<5xi64>
  %o2 = linalg.broadcast ins(%o : tensor<5xi64>) outs(%e : tensor<3x5xi64>) dimensions = [0]
  %off = tensor.collapse_shape %o2 [[0, 1]] : tensor<3x5xi64> into tensor<15xi64>
  %rows = tensor.collapse_shape %k [[0, 1, 2], [3]] : tensor<1x3x5x8xbf16> into tensor<15x8xbf16>
  %0 = kv.write at(%page, %h, %off : tensor<15xi64>, tensor<15xi64>, tensor<15xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<15x8xbf16> into %kc : tensor<6x3x4x8xbf16>
        map(affine_map<(t, p, h, o, d) -> (p, h, o, d)>)
  return %0 : tensor<6x3x4x8xbf16>
}
