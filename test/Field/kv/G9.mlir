// G9 of torch_writes.py. Two-column index, rows left out by a mask.

func.func @G9(%kc: tensor<6x4x8xbf16> {bufferization.writable = true}, %ij: tensor<5x2xi64>, %ok_: tensor<5xi1>, %u: tensor<5x8xf32>) -> tensor<6x4x8xbf16> {
  %e = tensor.empty() : tensor<5x2xi1>
  %both = linalg.broadcast ins(%ok_ : tensor<5xi1>) outs(%e : tensor<5x2xi1>) dimensions = [1]
  %none = arith.constant dense<-1> : tensor<5x2xi64>
  %i = arith.select %both, %ij, %none : tensor<5x2xi1>, tensor<5x2xi64>
  %page = tensor.extract_slice %i[0, 0] [5, 1] [1, 1] : tensor<5x2xi64> to tensor<5xi64>
  %row = tensor.extract_slice %i[0, 1] [5, 1] [1, 1] : tensor<5x2xi64> to tensor<5xi64>
  %x = kv.cast %u : tensor<5x8xf32> to tensor<5x8xbf16>
  %0 = kv.write at(%page, %row : tensor<5xi64>, tensor<5xi64>) mask(%ok_ : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<5x8xbf16> into %kc : tensor<6x4x8xbf16> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return %0 : tensor<6x4x8xbf16>
}
