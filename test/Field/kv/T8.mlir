// T8 of torch_writes.py. Rows by a page table; the offset is a difference; fp8 seen as bytes.
// %pg is what the gather from the page table gives.

func.func @T8(%nope: tensor<6x4x8xf8E4M3FN> {bufferization.writable = true}, %rope: tensor<6x4x4xbf16> {bufferization.writable = true},
              %pg: tensor<5xi64>, %k: tensor<5x8xbf16>, %r: tensor<5x4xbf16>)
    -> (tensor<6x4x8xf8E4M3FN>, tensor<6x4x4xbf16>) {
  %iota = arith.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi64>
  %first = arith.constant dense<3> : tensor<5xi64>
  %four = arith.constant dense<4> : tensor<5xi64>
  %pos = arith.addi %iota, %first : tensor<5xi64>
  %o = arith.floordivsi %pos, %four : tensor<5xi64>
  %start = arith.muli %o, %four : tensor<5xi64>
  %off = arith.subi %pos, %start : tensor<5xi64>
  %base = arith.muli %pg, %four : tensor<5xi64>
  %row = arith.addi %base, %off : tensor<5xi64>
  %kf = kv.cast %k saturating : tensor<5x8xbf16> to tensor<5x8xf8E4M3FN>
  %nope1 = kv.write at(%row : tensor<5xi64>) negative(error) out_of_bounds(trap)
    put %kf : tensor<5x8xf8E4M3FN> into %nope : tensor<6x4x8xf8E4M3FN>
        map(affine_map<(t, r, d) -> (r floordiv 4, r mod 4, d)>)
  %rope1 = kv.write at(%row : tensor<5xi64>) negative(error) out_of_bounds(trap)
    put %r : tensor<5x4xbf16> into %rope : tensor<6x4x4xbf16>
        map(affine_map<(t, r, d) -> (r floordiv 4, r mod 4, d)>)
  return %nope1, %rope1 : tensor<6x4x8xf8E4M3FN>, tensor<6x4x4xbf16>
}
