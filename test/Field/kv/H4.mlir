// H4 of torch_writes.py. Old rows are read before they are written over.
// The old rows are read outside, before the call.

#flat = affine_map<(t, s, h, d) -> (s, h, d)>
#order = affine_map<(t, h, d) -> (h, t, d)>

func.func @H4(%kc: tensor<24x3x8xbf16> {bufferization.writable = true}, %vc: tensor<24x3x8xbf16> {bufferization.writable = true},
              %wi: tensor<5xi64>, %k: tensor<1x3x5x8xbf16>, %v: tensor<1x3x5x8xbf16>) -> (tensor<24x3x8xbf16>, tensor<24x3x8xbf16>) {
  %kr = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x3x5x8xbf16> into tensor<3x5x8xbf16>
  %0 = kv.write at(%wi : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %kr : tensor<3x5x8xbf16> into %kc : tensor<24x3x8xbf16> map(#flat) order(#order)
  %vr = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x3x5x8xbf16> into tensor<3x5x8xbf16>
  %1 = kv.write at(%wi : tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %vr : tensor<3x5x8xbf16> into %vc : tensor<24x3x8xbf16> map(#flat) order(#order)
  return %0, %1 : tensor<24x3x8xbf16>, tensor<24x3x8xbf16>
}
