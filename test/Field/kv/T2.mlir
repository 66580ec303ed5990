// T2 of torch_writes.py. Token-major pages: the two index tensors are next to each other.

func.func @T2(%kc: tensor<6x4x3x8xbf16> {bufferization.writable = true}, %s: tensor<?xi32>, %v: tensor<?x3x8xf32>) -> tensor<6x4x3x8xbf16> {
  %l = arith.extsi %s : tensor<?xi32> to tensor<?xi64>
  %page = kv.apply affine_map<(s) -> (s floordiv 4)>(%l) : tensor<?xi64>
  %off = kv.apply affine_map<(s) -> (s mod 4)>(%l) : tensor<?xi64>
  %x = kv.cast %v : tensor<?x3x8xf32> to tensor<?x3x8xbf16>
  %0 = kv.write at(%page, %off : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x3x8xbf16> into %kc : tensor<6x4x3x8xbf16>
        map(affine_map<(t, p, o, h, d) -> (p, o, h, d)>)
  return %0 : tensor<6x4x3x8xbf16>
}
