// LC2 of torch_writes.py. One index for each element.

func.func @LC2(%vc: tensor<24x24xbf16> {bufferization.writable = true}, %s: tensor<5xi64>, %v: tensor<5x24xbf16>) -> tensor<24x24xbf16> {
  %iota = tensor.generate {
  ^bb0(%i: index):
    %x = arith.index_cast %i : index to i64
    tensor.yield %x : i64
  } : tensor<24xi64>
  %channel = kv.apply affine_map<(c) -> (c * 24)>(%iota) : tensor<24xi64>
  %e = tensor.empty() : tensor<5x24xi64>
  %c2 = linalg.broadcast ins(%channel : tensor<24xi64>) outs(%e : tensor<5x24xi64>) dimensions = [0]
  %s2 = linalg.broadcast ins(%s : tensor<5xi64>) outs(%e : tensor<5x24xi64>) dimensions = [1]
  %cell = arith.addi %c2, %s2 : tensor<5x24xi64>
  %i = tensor.collapse_shape %cell [[0, 1]] : tensor<5x24xi64> into tensor<120xi64>
  %e1 = tensor.collapse_shape %v [[0, 1]] : tensor<5x24xbf16> into tensor<120xbf16>
  %0 = kv.write at(%i : tensor<120xi64>) negative(error) out_of_bounds(trap)
    put %e1 : tensor<120xbf16> into %vc : tensor<24x24xbf16> map(affine_map<(t, i) -> (i floordiv 24, i mod 24)>)
  return %0 : tensor<24x24xbf16>
}
