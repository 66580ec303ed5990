// T9 of torch_writes.py. Byte addresses unravelled into four indices; data and scales in one buffer.

#each = affine_map<(t, j, a, b, c, d) -> (a, b, c, d)>

func.func @T9(%ic: tensor<6x4x1x12xi8> {bufferization.writable = true}, %s: tensor<5xi64>, %kb: tensor<5x8xi8>, %sb: tensor<5x4xi8>) -> tensor<6x4x1x12xi8> {
  %a = kv.apply affine_map<(s) -> ((s floordiv 4) * 48 + (s mod 4) * 8)>(%s) : tensor<5xi64>
  %iota8 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %e58 = tensor.empty() : tensor<5x8xi64>
  %a2 = linalg.broadcast ins(%a : tensor<5xi64>) outs(%e58 : tensor<5x8xi64>) dimensions = [1]
  %j2 = linalg.broadcast ins(%iota8 : tensor<8xi64>) outs(%e58 : tensor<5x8xi64>) dimensions = [0]
  %fa = arith.addi %a2, %j2 : tensor<5x8xi64>
  %a3 = kv.apply affine_map<(f) -> (f mod 12)>(%fa) : tensor<5x8xi64>
  %ra = kv.apply affine_map<(f) -> (f floordiv 12)>(%fa) : tensor<5x8xi64>
  %a2i = kv.apply affine_map<(f) -> (f mod 1)>(%ra) : tensor<5x8xi64>
  %a1 = kv.apply affine_map<(f) -> (f mod 4)>(%ra) : tensor<5x8xi64>
  %a0 = kv.apply affine_map<(f) -> (f floordiv 4)>(%ra) : tensor<5x8xi64>
  %0 = kv.write at(%a0, %a1, %a2i, %a3 : tensor<5x8xi64>, tensor<5x8xi64>, tensor<5x8xi64>, tensor<5x8xi64>) negative(wrap) out_of_bounds(trap)
    put %kb : tensor<5x8xi8> into %ic : tensor<6x4x1x12xi8> map(#each)

  %b = kv.apply affine_map<(s) -> ((s floordiv 4) * 48 + (s mod 4) * 4 + 32)>(%s) : tensor<5xi64>
  %iota4 = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %e54 = tensor.empty() : tensor<5x4xi64>
  %b2 = linalg.broadcast ins(%b : tensor<5xi64>) outs(%e54 : tensor<5x4xi64>) dimensions = [1]
  %i2 = linalg.broadcast ins(%iota4 : tensor<4xi64>) outs(%e54 : tensor<5x4xi64>) dimensions = [0]
  %fb = arith.addi %b2, %i2 : tensor<5x4xi64>
  %b3 = kv.apply affine_map<(f) -> (f mod 12)>(%fb) : tensor<5x4xi64>
  %rb = kv.apply affine_map<(f) -> (f floordiv 12)>(%fb) : tensor<5x4xi64>
  %b2i = kv.apply affine_map<(f) -> (f mod 1)>(%rb) : tensor<5x4xi64>
  %b1 = kv.apply affine_map<(f) -> (f mod 4)>(%rb) : tensor<5x4xi64>
  %b0 = kv.apply affine_map<(f) -> (f floordiv 4)>(%rb) : tensor<5x4xi64>
  %1 = kv.write at(%b0, %b1, %b2i, %b3 : tensor<5x4xi64>, tensor<5x4xi64>, tensor<5x4xi64>, tensor<5x4xi64>) negative(wrap) out_of_bounds(trap)
    put %sb : tensor<5x4xi8> into %0 : tensor<6x4x1x12xi8> map(#each)
  return %1 : tensor<6x4x1x12xi8>
}
