// T4 of torch_writes.py. K and V of one pool, and index-K with one head: three writes share the slots.

#head_major = affine_map<(t, p, o, h, d) -> (p, h, o, d)>

func.func @T4(%pool: tensor<6x2x3x4x8xbf16> {bufferization.writable = true}, %ic: tensor<6x1x4x8xbf16> {bufferization.writable = true},
              %s: tensor<5xi32>, %k: tensor<5x24xf32>, %v: tensor<5x24xf32>, %x: tensor<5x8xf32>)
    -> (tensor<6x2x3x4x8xbf16>, tensor<6x1x4x8xbf16>) {
  %ls = arith.extsi %s : tensor<5xi32> to tensor<5xi64>
  %kp = kv.apply affine_map<(s) -> (s floordiv 4)>(%ls) : tensor<5xi64>
  %ko = kv.apply affine_map<(s) -> (s mod 4)>(%ls) : tensor<5xi64>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [5, 3, 8] : tensor<5x24xf32> into tensor<5x3x8xf32>
  %kb = kv.cast %k3 : tensor<5x3x8xf32> to tensor<5x3x8xbf16>
  %kc = tensor.extract_slice %pool[0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
  %kc1 = kv.write at(%kp, %ko : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %kb : tensor<5x3x8xbf16> into %kc : tensor<6x3x4x8xbf16> map(#head_major)
  %pool1 = tensor.insert_slice %kc1 into %pool[0, 0, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x3x4x8xbf16> into tensor<6x2x3x4x8xbf16>

  %lv = arith.extsi %s : tensor<5xi32> to tensor<5xi64>
  %vp = kv.apply affine_map<(s) -> (s floordiv 4)>(%lv) : tensor<5xi64>
  %vo = kv.apply affine_map<(s) -> (s mod 4)>(%lv) : tensor<5xi64>
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [5, 3, 8] : tensor<5x24xf32> into tensor<5x3x8xf32>
  %vb = kv.cast %v3 : tensor<5x3x8xf32> to tensor<5x3x8xbf16>
  %vc = tensor.extract_slice %pool1[0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x2x3x4x8xbf16> to tensor<6x3x4x8xbf16>
  %vc1 = kv.write at(%vp, %vo : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %vb : tensor<5x3x8xbf16> into %vc : tensor<6x3x4x8xbf16> map(#head_major)
  %pool2 = tensor.insert_slice %vc1 into %pool1[0, 1, 0, 0, 0] [6, 1, 3, 4, 8] [1, 1, 1, 1, 1] : tensor<6x3x4x8xbf16> into tensor<6x2x3x4x8xbf16>

  %lx = arith.extsi %s : tensor<5xi32> to tensor<5xi64>
  %xp = kv.apply affine_map<(s) -> (s floordiv 4)>(%lx) : tensor<5xi64>
  %xo = kv.apply affine_map<(s) -> (s mod 4)>(%lx) : tensor<5xi64>
  %x3 = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 1, 8] : tensor<5x8xf32> into tensor<5x1x8xf32>
  %xb = kv.cast %x3 : tensor<5x1x8xf32> to tensor<5x1x8xbf16>
  %ic1 = kv.write at(%xp, %xo : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %xb : tensor<5x1x8xbf16> into %ic : tensor<6x1x4x8xbf16> map(#head_major)
  return %pool2, %ic1 : tensor<6x2x3x4x8xbf16>, tensor<6x1x4x8xbf16>
}
