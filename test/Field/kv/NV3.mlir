// NV3 of torch_writes.py. Compressed twice: by sign, and by capacity.

func.func @NV3(%kc: tensor<6x4x3x8xbf16> {bufferization.writable = true}, %s: tensor<5xi64>, %k: tensor<5x3x8xbf16>) -> tensor<6x4x3x8xbf16> {
  %zero = arith.constant dense<0> : tensor<5xi64>
  %pages = arith.constant dense<6> : tensor<5xi64>
  %m = arith.cmpi sge, %s, %zero : tensor<5xi64>
  %pg = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<5xi64>
  %r = arith.cmpi slt, %pg, %pages : tensor<5xi64>
  %both = arith.andi %m, %r : tensor<5xi1>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<5xi64>
  %0 = kv.write at(%pg, %of : tensor<5xi64>, tensor<5xi64>) mask(%both : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<5x3x8xbf16> into %kc : tensor<6x4x3x8xbf16> map(affine_map<(t, p, o, h, d) -> (p, o, h, d)>)
  return %0 : tensor<6x4x3x8xbf16>
}
