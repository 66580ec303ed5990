// Errors of kv.write: policies and syntax. One case each, with the number of
// the rule that it breaks, if it breaks one.
// RUN: kvfuse-opt %s -split-input-file -verify-diagnostics

// kv.write, SX4: a policy that there is not.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{SX4: unknown policy 'skip' for 'negative', expects one of wrap, error, undefined}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(skip) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write, SX5: a policy that there is not.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{SX5: unknown policy 'clamp' for 'out_of_bounds', expects one of trap, skip, undefined}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(clamp)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write, SX5: a policy that there is not, in generic form.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error-re @below {{invalid properties {{.*}} Invalid attribute `out_of_bounds` in property conversion: 7 : i32}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 7 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "kv.yield"(%x) : (f16) -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: shaped operands in the syntax.
func.func @f(%s: tensor<?xi64>, %v: f16, %c: tensor<?x8xf16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    // expected-error @below {{expects a ranked tensor or memref, but got 'f16'}}
    put %v : f16 into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write: an order can be left out only where the map has a dimension per index operand.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  %0 = kv.write at(%s, %s : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    // expected-error @below {{expects a dimension per index operand}}
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(s) -> (s, 0)>)
  return
}

// -----

// kv.write: an attribute that has its own clause.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
    // expected-error @below {{attribute 'negative' is not discardable: it has its own clause}}
    attributes {negative = 1 : i32}
  return
}
