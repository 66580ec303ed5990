// FI1 of torch_writes.py. Pages through a ragged page table.
// %pg is what the gather from the page table gives.

#pair = affine_map<(t, p, o, h, d) -> (p, o, h, d)>

func.func @FI1(%pool: tensor<6x2x4x3x8xbf16> {bufferization.writable = true}, %pg: tensor<5xi64>, %pos: tensor<5xi64>,
               %k: tensor<5x3x8xbf16>, %v: tensor<5x3x8xbf16>) -> tensor<6x2x4x3x8xbf16> {
  %ko = kv.apply affine_map<(p) -> (p mod 4)>(%pos) : tensor<5xi64>
  %kc = tensor.extract_slice %pool[0, 0, 0, 0, 0] [6, 1, 4, 3, 8] [1, 1, 1, 1, 1] : tensor<6x2x4x3x8xbf16> to tensor<6x4x3x8xbf16>
  %kc1 = kv.write at(%pg, %ko : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<5x3x8xbf16> into %kc : tensor<6x4x3x8xbf16> map(#pair)
  %pool1 = tensor.insert_slice %kc1 into %pool[0, 0, 0, 0, 0] [6, 1, 4, 3, 8] [1, 1, 1, 1, 1] : tensor<6x4x3x8xbf16> into tensor<6x2x4x3x8xbf16>
  %vo = kv.apply affine_map<(p) -> (p mod 4)>(%pos) : tensor<5xi64>
  %vc = tensor.extract_slice %pool1[0, 1, 0, 0, 0] [6, 1, 4, 3, 8] [1, 1, 1, 1, 1] : tensor<6x2x4x3x8xbf16> to tensor<6x4x3x8xbf16>
  %vc1 = kv.write at(%pg, %vo : tensor<5xi64>, tensor<5xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<5x3x8xbf16> into %vc : tensor<6x4x3x8xbf16> map(#pair)
  %pool2 = tensor.insert_slice %vc1 into %pool1[0, 1, 0, 0, 0] [6, 1, 4, 3, 8] [1, 1, 1, 1, 1] : tensor<6x4x3x8xbf16> into tensor<6x2x4x3x8xbf16>
  return %pool2 : tensor<6x2x4x3x8xbf16>
}
