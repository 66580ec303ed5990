// TT2 of torch_writes.py. Positions from a buffer that advances after the writes.
// The positions advance outside, after the writes.

#rows = affine_map<(t, s, n, h, d) -> (n, h, s, d)>
#order = affine_map<(t, n, h, d) -> (n, h, t, d)>

func.func @TT2(%kc: tensor<1x3x16x8xbf16> {bufferization.writable = true}, %vc: tensor<1x3x16x8xbf16> {bufferization.writable = true},
               %pb: tensor<16xi64>, %k: tensor<1x3x5x8xbf16>, %v: tensor<1x3x5x8xbf16>) -> (tensor<1x3x16x8xbf16>, tensor<1x3x16x8xbf16>) {
  %kp = tensor.extract_slice %pb[0] [5] [1] : tensor<16xi64> to tensor<5xi64>
  %0 = kv.write at(%kp : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<1x3x5x8xbf16> into %kc : tensor<1x3x16x8xbf16> map(#rows) order(#order)
  %vp = tensor.extract_slice %pb[0] [5] [1] : tensor<16xi64> to tensor<5xi64>
  %1 = kv.write at(%vp : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<1x3x5x8xbf16> into %vc : tensor<1x3x16x8xbf16> map(#rows) order(#order)
  return %0, %1 : tensor<1x3x16x8xbf16>, tensor<1x3x16x8xbf16>
}
