// G5 of torch_writes.py. Flat byte addresses, rows and scales into one buffer.
// %scb is the scales seen as bytes.

#flat = affine_map<(t, a) -> (a floordiv 48, a mod 48)>

func.func @G5(%buf: tensor<6x48xi8> {bufferization.writable = true}, %loc: tensor<5xi64>, %k: tensor<5x8xf8E4M3FN>, %scb: tensor<5x4xi8>) -> tensor<6x48xi8> {
  %pg = kv.apply affine_map<(s) -> (s floordiv 4)>(%loc) : tensor<5xi64>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%loc) : tensor<5xi64>
  %e58 = tensor.empty() : tensor<5x8xi64>
  %e54 = tensor.empty() : tensor<5x4xi64>
  %row = kv.apply affine_map<(p) -> (p * 48)>(%pg) : tensor<5xi64>
  %row8 = linalg.broadcast ins(%row : tensor<5xi64>) outs(%e58 : tensor<5x8xi64>) dimensions = [1]
  %col = kv.apply affine_map<(o) -> (o * 8)>(%of) : tensor<5xi64>
  %col8 = linalg.broadcast ins(%col : tensor<5xi64>) outs(%e58 : tensor<5x8xi64>) dimensions = [1]
  %iota8 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %j8 = linalg.broadcast ins(%iota8 : tensor<8xi64>) outs(%e58 : tensor<5x8xi64>) dimensions = [0]
  %sum8 = arith.addi %row8, %col8 : tensor<5x8xi64>
  %a = arith.addi %sum8, %j8 : tensor<5x8xi64>
  %fa = tensor.collapse_shape %a [[0, 1]] : tensor<5x8xi64> into tensor<40xi64>
  %kb = arith.bitcast %k : tensor<5x8xf8E4M3FN> to tensor<5x8xi8>
  %fk = tensor.collapse_shape %kb [[0, 1]] : tensor<5x8xi8> into tensor<40xi8>
  %0 = kv.write at(%fa : tensor<40xi64>) negative(wrap) out_of_bounds(trap)
    put %fk : tensor<40xi8> into %buf : tensor<6x48xi8> map(#flat)

  %base = kv.apply affine_map<(p) -> (p * 48 + 32)>(%pg) : tensor<5xi64>
  %base4 = linalg.broadcast ins(%base : tensor<5xi64>) outs(%e54 : tensor<5x4xi64>) dimensions = [1]
  %place = kv.apply affine_map<(o) -> (o * 4)>(%of) : tensor<5xi64>
  %place4 = linalg.broadcast ins(%place : tensor<5xi64>) outs(%e54 : tensor<5x4xi64>) dimensions = [1]
  %iota4 = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %j4 = linalg.broadcast ins(%iota4 : tensor<4xi64>) outs(%e54 : tensor<5x4xi64>) dimensions = [0]
  %sum4 = arith.addi %base4, %place4 : tensor<5x4xi64>
  %b = arith.addi %sum4, %j4 : tensor<5x4xi64>
  %fb = tensor.collapse_shape %b [[0, 1]] : tensor<5x4xi64> into tensor<20xi64>
  %fs = tensor.collapse_shape %scb [[0, 1]] : tensor<5x4xi8> into tensor<20xi8>
  %1 = kv.write at(%fb : tensor<20xi64>) negative(wrap) out_of_bounds(trap)
    put %fs : tensor<20xi8> into %0 : tensor<6x48xi8> map(#flat)
  return %1 : tensor<6x48xi8>
}
