// Errors of kv.write: operands, results and attributes. One case each, with the
// number of the rule that it breaks, if it breaks one.
// RUN: kvfuse-opt %s -split-input-file -verify-diagnostics

// kv.write, SX1: index values are i32 or i64.
func.func @f(%s: tensor<?xi16>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{operand #0 must be variadic of tensor or strided memref of rank 1 to 4 of i32 or i64 (SX1), but got 'tensor<?xi16>'}}
  %0 = kv.write at(%s : tensor<?xi16>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write, SX1: unsigned index values.
func.func @f(%s: tensor<?xui32>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{rank 1 to 4 of i32 or i64 (SX1), but got 'tensor<?xui32>'}}
  %0 = kv.write at(%s : tensor<?xui32>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: a grid has dimensions.
func.func @f(%s: tensor<i64>, %v: tensor<8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{operand #0 must be variadic of tensor or strided memref of rank 1 to 4 of i32 or i64 (SX1), but got 'tensor<i64>'}}
  %0 = kv.write at(%s : tensor<i64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<8xf16> into %c : tensor<?x8xf16> map(affine_map<(s, d) -> (s, d)>)
  return
}

// -----

// kv.write: index values of no known rank.
func.func @f(%s: tensor<*xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{operand #0 must be variadic of tensor or strided memref of rank 1 to 4 of i32 or i64 (SX1), but got 'tensor<*xi64>'}}
  %0 = kv.write at(%s : tensor<*xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: vectors are neither tensors nor memrefs.
func.func @f(%s: vector<4xi64>, %v: tensor<4x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{operand #0 must be variadic of tensor or strided memref of rank 1 to 4 of i32 or i64 (SX1), but got 'vector<4xi64>'}}
  %0 = kv.write at(%s : vector<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: a mask is of i1.
func.func @f(%s: tensor<?xi64>, %m: tensor<?xi8>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{operand #1 must be tensor or strided memref of rank 1 to 4 of i1, but got 'tensor<?xi8>'}}
  %0 = kv.write at(%s : tensor<?xi64>) mask(%m : tensor<?xi8>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: a cache has dimensions.
func.func @f(%s: tensor<?xi64>, %v: tensor<?xf16>, %c: tensor<f16>) {
  // expected-error @below {{operand #1 must be variadic of tensor or strided memref of rank 1 to 8 of integers or floats of 8, 16, 32 or 64 bits, but got 'tensor<f16>'}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?xf16> into %c : tensor<f16> map(affine_map<(t, s) -> ()>)
  return
}

// -----

// kv.write, SM4: elements are whole bytes.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xi4>, %c: tensor<?x8xi4>) {
  // expected-error @below {{of integers or floats of 8, 16, 32 or 64 bits, but got 'tensor<?x8xi4>'}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xi4> into %c : tensor<?x8xi4> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: a cache that has no strides.
func.func @f(%s: memref<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16, affine_map<(a, b) -> (a floordiv 2, b)>>) {
  // expected-error @below {{operand #1 must be variadic of tensor or strided memref of rank 1 to 8 of integers or floats of 8, 16, 32 or 64 bits, but got 'memref<?x8xf16, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>'}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf16> into %c : memref<?x8xf16, affine_map<(a, b) -> (a floordiv 2, b)>> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: tensors or memrefs, not both.
func.func @f(%s: tensor<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16>) {
  // expected-error @below {{expects either tensors or memrefs, but got 'memref<?x8xf16>' and 'tensor<?xi64>'}}
  kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf16> into %c : memref<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: at least one index operand.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expects at least one index operand}}
  %0 = "kv.write"(%c, %v) <{
      operandSegmentSizes = array<i32: 0, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: at least one destination.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{expects at least one destination}}
  "kv.write"(%s) <{
      operandSegmentSizes = array<i32: 1, 0, 0, 0>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1>,
      maps = [],
      orders = []}> ({})
      : (tensor<?xi64>) -> ()
  return
}

// -----

// kv.write: values for each destination.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expects one value operand per destination, but got 1 for 2}}
  %0:2 = "kv.write"(%s, %c, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 2, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>, tensor<?x8xf16>) -> (tensor<?x8xf16>, tensor<?x8xf16>)
  return
}

// -----

// kv.write: a map, an order, a box flag and a region for each destination.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expects one map, order, box flag and region per destination, but got 2, 0, 1 and 1 for 1}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>, affine_map<(t, s, d) -> (s, d)>],
      orders = []}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: a result for each tensor.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> ()
  return
}

// -----

// kv.write: no result for memrefs.
func.func @f(%s: memref<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16>) {
  // expected-error @below {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (memref<?xi64>, memref<?x8xf16>, memref<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: results have the types of the destinations.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expected type of operand #1 ('tensor<?x8xf16>') to match type of corresponding result ('tensor<4x8xf16>')}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<4x8xf16>
  return
}

// -----

// kv.write: all attributes.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{requires attribute 'boxes'}}
  %0 = "kv.write"(%s, %c, %v) <{operandSegmentSizes = array<i32: 1, 0, 1, 1>}> ({}, {})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: maps are affine maps.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{attribute 'maps' failed to satisfy constraint: AffineMap array attribute}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [3],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write, SM3: values that are a destination.
func.func @f(%s: memref<?xi64>, %a: memref<?x8xf16>, %b: memref<?x8xf16>) {
  // expected-error @below {{SM3: expects inputs that do not overlap a destination, but an operand of type 'memref<?x8xf16>' is both}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %a : memref<?x8xf16> into %b : memref<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
    put %b : memref<?x8xf16> into %a : memref<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write, SM3: index values that are a destination.
func.func @f(%s: memref<?xi64>, %v: memref<?xi64>) {
  // expected-error @below {{SM3: expects inputs that do not overlap a destination, but an operand of type 'memref<?xi64>' is both}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?xi64> into %s : memref<?xi64> map(affine_map<(t, s) -> (s)>)
  return
}

// -----

// kv.write: one grid, ranks.
func.func @f(%s: tensor<?xi64>, %r: tensor<?x?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x?x8xf16>) {
  // expected-error @below {{expects index operands and mask of one shape, but got 'tensor<?xi64>' and 'tensor<?x?xi64>'}}
  %0 = kv.write at(%s, %r : tensor<?xi64>, tensor<?x?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x?x8xf16> map(affine_map<(t, s, r, d) -> (s, r, d)>)
  return
}

// -----

// kv.write: one grid, static sizes, also where the first operand has none.
func.func @f(%s: tensor<?xi64>, %r: tensor<4xi64>, %m: tensor<5xi1>, %v: tensor<?x8xf16>, %c: tensor<?x?x8xf16>) {
  // expected-error @below {{expects index operands and mask of one shape, but dimension 0 has size 4 and, in 'tensor<5xi1>', 5}}
  %0 = kv.write at(%s, %r : tensor<?xi64>, tensor<4xi64>) mask(%m : tensor<5xi1>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x?x8xf16> map(affine_map<(t, s, r, d) -> (s, r, d)>)
  return
}
