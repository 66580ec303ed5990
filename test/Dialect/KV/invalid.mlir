// Errors of kv.apply and kv.cast. One case each, with the number of the rule
// that it breaks, if it breaks one.
// RUN: kvfuse-opt %s -split-input-file -verify-diagnostics

// kv.apply, SX1: index values are i64 by then, and of a known rank.
func.func @f(%s: tensor<?xi32>) {
  // expected-error @below {{operand #0 must be variadic of i64, or a ranked tensor or vector of it (SX1), but got 'tensor<?xi32>'}}
  %0 = kv.apply affine_map<(s) -> (s floordiv 32)>(%s) : tensor<?xi32>
  return
}

// -----

// kv.apply, SX1: no unranked tensors.
func.func @f(%s: tensor<*xi64>) {
  // expected-error @below {{must be variadic of i64, or a ranked tensor or vector of it (SX1), but got 'tensor<*xi64>'}}
  %0 = kv.apply affine_map<(s) -> (s floordiv 32)>(%s) : tensor<*xi64>
  return
}

// -----

// kv.apply: one type, sizes included.
func.func @f(%s: tensor<4xi64>) {
  // expected-error @below {{expects operands and result of one type, but got 'tensor<4xi64>' and 'tensor<?xi64>'}}
  %0 = "kv.apply"(%s) <{map = affine_map<(s) -> (s floordiv 32)>}> : (tensor<4xi64>) -> tensor<?xi64>
  return
}

// -----

// kv.apply: at least one operand.
// expected-error @below {{expected 1 or more operands, but found 0}}
%0 = "kv.apply"() <{map = affine_map<() -> (5)>}> : () -> i64

// -----

// kv.apply: a map.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{requires attribute 'map'}}
  %0 = "kv.apply"(%s) : (tensor<?xi64>) -> tensor<?xi64>
  return
}

// -----

// kv.apply: one result.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{expects a map with one result, but affine_map<(d0) -> (d0 floordiv 32, d0 mod 32)> has 2}}
  %0 = kv.apply affine_map<(s) -> (s floordiv 32, s mod 32)>(%s) : tensor<?xi64>
  return
}

// -----

// kv.apply: no symbols.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{expects a map without symbols, but got affine_map<(d0)[s0] -> (d0 floordiv s0)>}}
  %0 = kv.apply affine_map<(s)[p] -> (s floordiv p)>(%s) : tensor<?xi64>
  return
}

// -----

// kv.apply: an operand per dimension.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{expects one operand per dimension of the map: 1 operands for 2 dimensions}}
  %0 = kv.apply affine_map<(s, p) -> (s + p)>(%s) : tensor<?xi64>
  return
}

// -----

// kv.apply, SX2: a divisor that is zero.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{SX2: expects positive constant divisors in affine_map<(d0) -> (d0 floordiv 0)>}}
  %0 = kv.apply affine_map<(s) -> (s floordiv 0)>(%s) : tensor<?xi64>
  return
}

// -----

// kv.apply, SX2: a divisor that is negative.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{SX2: expects positive constant divisors in affine_map<(d0) -> (d0 mod -3)>}}
  %0 = kv.apply affine_map<(s) -> (s mod -3)>(%s) : tensor<?xi64>
  return
}

// -----

// kv.apply, SX2: division that rounds up.
func.func @f(%s: tensor<?xi64>) {
  // expected-error @below {{SX2: expects divisions that round down in affine_map<(d0) -> (d0 ceildiv 32)>}}
  %0 = kv.apply affine_map<(s) -> (s ceildiv 32)>(%s) : tensor<?xi64>
  return
}

// -----

// kv.cast: floats only.
func.func @f(%x: tensor<?xi8>) {
  // expected-error @below {{operand #0 must be float, or a ranked tensor or vector of it, but got 'tensor<?xi8>'}}
  %0 = kv.cast %x : tensor<?xi8> to tensor<?xf8E4M3FN>
  return
}

// -----

// kv.cast: no unranked tensors.
func.func @f(%x: tensor<*xbf16>) {
  // expected-error @below {{must be float, or a ranked tensor or vector of it, but got 'tensor<*xbf16>'}}
  %0 = kv.cast %x : tensor<*xbf16> to tensor<*xf8E4M3FN>
  return
}

// -----

// kv.cast, SC1: an element type that is too wide.
func.func @f(%x: tensor<?xf64>) {
  // expected-error @below {{SC1: expects element types of 8, 16 or 32 bits, but got 'f64'}}
  %0 = kv.cast %x : tensor<?xf64> to tensor<?xf8E4M3FN>
  return
}

// -----

// kv.cast, SC1: an element type that is too narrow.
func.func @f(%x: f32) {
  // expected-error @below {{SC1: expects element types of 8, 16 or 32 bits, but got 'f4E2M1FN'}}
  %0 = kv.cast %x : f32 to f4E2M1FN
  return
}

// -----

// kv.cast, SC1: an element type that has exponents only.
func.func @f(%x: f32) {
  // expected-error @below {{SC1: expects element types with a sign and a zero, but got 'f8E8M0FNU'}}
  %0 = kv.cast %x : f32 to f8E8M0FNU
  return
}

// -----

// kv.cast, SC3: saturating to a type with infinities.
func.func @f(%x: tensor<?xbf16>) {
  // expected-error @below {{SC3: saturating is for types without infinities, but 'f8E5M2' has them}}
  %0 = kv.cast %x saturating : tensor<?xbf16> to tensor<?xf8E5M2>
  return
}

// -----

// kv.cast: one shape.
func.func @f(%x: tensor<?xbf16>) {
  // expected-error @below {{expects operand and result of one shape, but got 'tensor<?xbf16>' and 'tensor<4xf8E5M2>'}}
  %0 = kv.cast %x : tensor<?xbf16> to tensor<4xf8E5M2>
  return
}
