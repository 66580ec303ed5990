// G3 of torch_writes.py. Packed fp4 data and block scales: four writes share an index.

#rows = affine_map<(t, s, h, d) -> (s, h, d)>
#scales = affine_map<(t, s, h) -> (s, h)>

func.func @G3(%kc: tensor<24x3x4xi8> {bufferization.writable = true}, %vc: tensor<24x3x4xi8> {bufferization.writable = true},
              %ks: tensor<24x3xi8> {bufferization.writable = true}, %vs: tensor<24x3xi8> {bufferization.writable = true},
              %loc: tensor<?xi64>, %kq: tensor<?x3x4xi8>, %vq: tensor<?x3x4xi8>, %kf: tensor<?x3xi8>, %vf: tensor<?x3xi8>)
    -> (tensor<24x3x4xi8>, tensor<24x3x4xi8>, tensor<24x3xi8>, tensor<24x3xi8>) {
  %0 = kv.write at(%loc : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %kq : tensor<?x3x4xi8> into %kc : tensor<24x3x4xi8> map(#rows)
  %1 = kv.write at(%loc : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %kf : tensor<?x3xi8> into %ks : tensor<24x3xi8> map(#scales)
  %2 = kv.write at(%loc : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %vq : tensor<?x3x4xi8> into %vc : tensor<24x3x4xi8> map(#rows)
  %3 = kv.write at(%loc : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %vf : tensor<?x3xi8> into %vs : tensor<24x3xi8> map(#scales)
  return %0, %2, %1, %3 : tensor<24x3x4xi8>, tensor<24x3x4xi8>, tensor<24x3xi8>, tensor<24x3xi8>
}
