// ET3 of torch_writes.py. int8 rows with scales and zero points at the same positions.
// The quantiser stays outside: %q, %sc and %z are its results.

#rows = affine_map<(t, i, n, h, d) -> (n, i, h, d)>
#order = affine_map<(t, n, h, d) -> (n, t, h, d)>

func.func @ET3(%kc: tensor<1x16x3x8xi8> {bufferization.writable = true}, %ks: tensor<1x16x3x1xf32> {bufferization.writable = true},
               %kz: tensor<1x16x3x1xi8> {bufferization.writable = true}, %pos: tensor<?xi64>,
               %q: tensor<1x?x3x8xi8>, %sc: tensor<1x?x3x1xf32>, %z: tensor<1x?x3x1xi8>)
    -> (tensor<1x16x3x8xi8>, tensor<1x16x3x1xf32>, tensor<1x16x3x1xi8>) {
  %0 = kv.write at(%pos : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %q : tensor<1x?x3x8xi8> into %kc : tensor<1x16x3x8xi8> map(#rows) order(#order)
  %1 = kv.write at(%pos : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %sc : tensor<1x?x3x1xf32> into %ks : tensor<1x16x3x1xf32> map(#rows) order(#order)
  %2 = kv.write at(%pos : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %z : tensor<1x?x3x1xi8> into %kz : tensor<1x16x3x1xi8> map(#rows) order(#order)
  return %0, %1, %2 : tensor<1x16x3x8xi8>, tensor<1x16x3x1xf32>, tensor<1x16x3x1xi8>
}
