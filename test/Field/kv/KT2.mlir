// KT2 of torch_writes.py. The page size is a tensor.
// %u is latent and rope side by side.

func.func @KT2(%kc: tensor<6x4x1x8xbf16> {bufferization.writable = true}, %pt: tensor<1xi64>, %pos: tensor<2xi64>, %u: tensor<2x2x1x8xbf16>) -> tensor<6x4x1x8xbf16> {
  %c0 = arith.constant 0 : index
  %p = tensor.extract %pt[%c0] : tensor<1xi64>
  %size = tensor.splat %p : tensor<2xi64>
  %pg = arith.floordivsi %pos, %size : tensor<2xi64>
  %start = arith.muli %pg, %size : tensor<2xi64>
  %of = arith.subi %pos, %start : tensor<2xi64>
  %e = tensor.empty() : tensor<2x2xi64>
  %pg2 = linalg.broadcast ins(%pg : tensor<2xi64>) outs(%e : tensor<2x2xi64>) dimensions = [0]
  %of2 = linalg.broadcast ins(%of : tensor<2xi64>) outs(%e : tensor<2x2xi64>) dimensions = [0]
  %iota = arith.constant dense<[0, 1]> : tensor<2xi64>
  %first = kv.apply affine_map<(b) -> (b * 3)>(%iota) : tensor<2xi64>
  %first2 = linalg.broadcast ins(%first : tensor<2xi64>) outs(%e : tensor<2x2xi64>) dimensions = [1]
  %page = arith.addi %pg2, %first2 : tensor<2x2xi64>
  %0 = kv.write at(%page, %of2 : tensor<2x2xi64>, tensor<2x2xi64>) negative(wrap) out_of_bounds(trap)
    put %u : tensor<2x2x1x8xbf16> into %kc : tensor<6x4x1x8xbf16> map(affine_map<(b, t, p, o, h, d) -> (p, o, h, d)>)
  return %0 : tensor<6x4x1x8xbf16>
}
