// NV1 of torch_writes.py. Slots and rows compressed by a mask before the pages are computed.

#pair = affine_map<(t, p, o, h, d) -> (p, o, h, d)>

func.func @NV1(%kc: tensor<6x4x3x8xbf16> {bufferization.writable = true}, %vc: tensor<6x4x3x8xbf16> {bufferization.writable = true},
               %s: tensor<5xi64>, %k: tensor<5x3x8xbf16>, %v: tensor<5x3x8xbf16>) -> (tensor<6x4x3x8xbf16>, tensor<6x4x3x8xbf16>) {
  %none = arith.constant dense<-1> : tensor<5xi64>
  %m = arith.cmpi ne, %s, %none : tensor<5xi64>
  %pg = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<5xi64>
  %of = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<5xi64>
  %0 = kv.write at(%pg, %of : tensor<5xi64>, tensor<5xi64>) mask(%m : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<5x3x8xbf16> into %kc : tensor<6x4x3x8xbf16> map(#pair)
  %1 = kv.write at(%pg, %of : tensor<5xi64>, tensor<5xi64>) mask(%m : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x3x8xbf16> into %vc : tensor<6x4x3x8xbf16> map(#pair)
  return %0, %1 : tensor<6x4x3x8xbf16>, tensor<6x4x3x8xbf16>
}
