// SA2 of torch_writes.py. Layer, K or V, head and offset are digits of one row number.
// %pg is what the gather from the page table gives.

#row = affine_map<(n, l, h, i, d) -> (i floordiv 48, (i mod 48) * 8 + d)>

func.func @SA2(%st: tensor<6x384xbf16> {bufferization.writable = true}, %pg: tensor<2xi64>, %pos: tensor<2xi64>,
               %k: tensor<2x1x3x8xf32>, %v: tensor<2x1x3x8xf32>) -> tensor<6x384xbf16> {
  %of = kv.apply affine_map<(p) -> (p mod 4)>(%pos) : tensor<2xi64>
  %e = tensor.empty() : tensor<2x1x3xi64>
  %iota = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %pg3 = linalg.broadcast ins(%pg : tensor<2xi64>) outs(%e : tensor<2x1x3xi64>) dimensions = [1, 2]
  %of3 = linalg.broadcast ins(%of : tensor<2xi64>) outs(%e : tensor<2x1x3xi64>) dimensions = [1, 2]
  %h3 = linalg.broadcast ins(%iota : tensor<3xi64>) outs(%e : tensor<2x1x3xi64>) dimensions = [0, 1]
  %ki = kv.apply affine_map<(p, h, o) -> ((((p * 2 + 1) * 2) * 3 + h) * 4 + o)>(%pg3, %h3, %of3) : tensor<2x1x3xi64>
  %kb = kv.cast %k : tensor<2x1x3x8xf32> to tensor<2x1x3x8xbf16>
  %0 = kv.write at(%ki : tensor<2x1x3xi64>) negative(wrap) out_of_bounds(trap)
    put %kb : tensor<2x1x3x8xbf16> into %st : tensor<6x384xbf16> map(#row)
  %vi = kv.apply affine_map<(p, h, o) -> ((((p * 2 + 1) * 2 + 1) * 3 + h) * 4 + o)>(%pg3, %h3, %of3) : tensor<2x1x3xi64>
  %vb = kv.cast %v : tensor<2x1x3x8xf32> to tensor<2x1x3x8xbf16>
  %1 = kv.write at(%vi : tensor<2x1x3xi64>) negative(wrap) out_of_bounds(trap)
    put %vb : tensor<2x1x3x8xbf16> into %0 : tensor<6x384xbf16> map(#row)
  return %1 : tensor<6x384xbf16>
}
