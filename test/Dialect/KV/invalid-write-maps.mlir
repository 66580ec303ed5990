// Errors of kv.write: maps, orders and sizes. One case each, with the number of
// the rule that it breaks, if it breaks one.
// RUN: kvfuse-opt %s -split-input-file -verify-diagnostics

// kv.write: a map over grid, index values and rows.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: expects a map over 1 grid coordinates, 1 index values and the row coordinates, but got affine_map<(d0) -> (d0, d0, d0)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t) -> (t, t, t)>) order(affine_map<(t) -> (t)>)
  return
}

// -----

// kv.write: no symbols in a map.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: expects a map over 1 grid coordinates, 1 index values and the row coordinates, but got affine_map<(d0, d1, d2, d3)[s0] -> (d1 + s0, d2, d3)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d)[x] -> (s + x, h, d)>)
  return
}

// -----

// kv.write: a coordinate per dimension of the cache.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: expects one coordinate per dimension of 'tensor<?x4x8xf16>', but got affine_map<(d0, d1, d2, d3) -> (d1, d2)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h)>)
  return
}

// -----

// kv.write, SX2: a divisor that is zero.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX2: expects positive constant divisors in affine_map<(d0, d1, d2, d3) -> (d1 mod 0, d2, d3)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s mod 0, h, d)>)
  return
}

// -----

// kv.write, SX2: division that rounds up.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX2: expects divisions that round down in affine_map<(d0, d1, d2, d3) -> (d1 ceildiv 2, d2, d3)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s ceildiv 2, h, d)>)
  return
}

// -----

// kv.write: a row coordinate that the map does not use.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: expects row coordinate 1 to appear in the map affine_map<(d0, d1, d2, d3) -> (d1, d2, 0)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, 0)>)
  return
}

// -----

// kv.write, SX8: an order for another number of dimensions.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX8: expects an order that takes 3 grid and row coordinates to the 2 dimensions of the values, each at most once, but got affine_map<(d0, d1, d2) -> (d0, d1, d2)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return
}

// -----

// kv.write, SX8: an order that uses a coordinate twice.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX8: expects an order that takes 3 grid and row coordinates to the 3 dimensions of the values, each at most once, but got affine_map<(d0, d1, d2) -> (d0, d1, d1)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> (t, h, h)>)
  return
}

// -----

// kv.write, SX8: an order with a constant.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{each at most once, but got affine_map<(d0, d1, d2) -> (d0, 0, d2)>}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> (t, 0, d)>)
  return
}

// -----

// kv.write, SX10: a row coordinate without an extent.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX10: row coordinate 1 has no extent of its own: the values lack it, and it is the coordinate of 0 dimensions of the cache}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, d + 4)>) order(affine_map<(t, h, d) -> (t, h)>)
  return
}

// -----

// kv.write, SX10: fewer rows than tokens.
func.func @f(%s: tensor<4xi64>, %v: tensor<4x3x8xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX10: dimension 1 of the values has size 3 where the grid has size 4}}
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x3x8xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> (h, t, d)>)
  return
}

// -----

// kv.write, SX10: rows that do not cover the cache.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4x6xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX10: the rows have size 6 where dimension 2 of the cache has size 8}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x6xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return
}

// -----

// kv.write, SX10: a row coordinate with two extents.
func.func @f(%s: tensor<?xi64>, %v: tensor<?xf16>, %c: tensor<?x?x?xf16>) {
  // expected-error @below {{destination 0: SX10: row coordinate 0 has no extent of its own: the values lack it, and it is the coordinate of 2 dimensions of the cache}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?xf16> into %c : tensor<?x?x?xf16>
        map(affine_map<(t, s, d) -> (s, d, d)>) order(affine_map<(t, d) -> (t)>)
  return
}

// -----

// kv.write, SX10: a row coordinate that covers two dimensions of different sizes.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x4xf16>, %c: tensor<?x4x8xf16>) {
  // expected-error @below {{destination 0: SX10: the rows have size 4 where dimension 2 of the cache has size 8}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4xf16> into %c : tensor<?x4x8xf16>
        map(affine_map<(t, s, d) -> (s, d, d)>)
  return
}
