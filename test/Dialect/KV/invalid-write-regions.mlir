// Errors of kv.write and kv.yield: regions. One case each, with the number of
// the rule that it breaks, if it breaks one.
// RUN: kvfuse-opt %s -split-input-file -verify-diagnostics

// kv.write, SC5: without a region the element types are equal.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf8E4M3FN>, %m: memref<f16>) {
  // expected-error @below {{'kv.yield' op SC5: expects 'f8E4M3FN' from the region of destination 0, but got 'f16'}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf8E4M3FN> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write, SC5: a region yields the element type of the cache; bytes are not fp8.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xi8>, %m: memref<f16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xi8> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f16):
      %y = kv.cast %x : f16 to f8E4M3FN
      // expected-error @below {{SC5: expects 'i8' from the region of destination 0, but got 'f8E4M3FN'}}
      kv.yield %y : f8E4M3FN
    }
  return
}

// -----

// kv.write, SC5: a region takes the element type of the values.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  // expected-error @below {{SC5: expects the region of destination 0 to take ('f16'), but it takes ('f32')}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f16
      kv.yield %y : f16
    }
  return
}

// -----

// kv.write: a region ends with kv.yield.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  // expected-error @below {{expects the region of destination 0 to end with kv.yield}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {^bb0(%x: f16): "llvm.unreachable"() : () -> ()})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: no effects in a region.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f16):
      // expected-error @below {{'memref.load' op is not allowed in the region of destination 0: only operations without effects and regions are}}
      %y = memref.load %m[] : memref<f16>
      kv.yield %y : f16
    }
  return
}

// -----

// kv.write: no regions in a region.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f16):
      %true = arith.constant true
      // expected-error @below {{'scf.if' op is not allowed in the region of destination 0: only operations without effects and regions are}}
      %y = scf.if %true -> f16 {
        scf.yield %x : f16
      } else {
        scf.yield %x : f16
      }
      kv.yield %y : f16
    }
  return
}

// -----

// kv.write: only scalars in a region.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f16):
      %i = arith.constant 0 : index
      // expected-error @below {{'tensor.extract' op is not allowed in the region of destination 0: only operations on scalars are}}
      %y = tensor.extract %v[%i, %i] : tensor<?x8xf16>
      kv.yield %y : f16
    }
  return
}

// -----

// kv.write: a region has a block.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  // expected-error @below {{region #1 ('bodies') failed to verify constraint: region with 1 blocks}}
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {})
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write, SX4: a region 'where' takes the index values as i64.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  // expected-error @below {{SX4: expects region 'where' to take ('i64'), but it takes ('i32')}}
  %0 = kv.write at(%s : tensor<?xi64>) where {
    ^bb0(%x: i32):
      %y = arith.constant true
      kv.yield %y : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.write, SX4: a region 'where' yields an i1.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>, %m: memref<f16>) {
  %0 = kv.write at(%s : tensor<?xi64>) where {
    ^bb0(%x: i64):
      // expected-error @below {{SX4: expects 'i1' from region 'where', but got 'i64'}}
      kv.yield %x : i64
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// kv.yield: inside kv.write only.
func.func @f(%x: f16) {
  // expected-error @below {{expects parent op 'kv.write'}}
  kv.yield %x : f16
}

// -----

// kv.yield: one value, also where the write looks at it.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {
    ^bb0(%x: f16):
      // expected-error @below {{requires a single operand}}
      "kv.yield"() : () -> ()
  })
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// -----

// kv.write: a malformed write inside a region is reported, not looked into.
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  %0 = "kv.write"(%s, %c, %v) <{
      operandSegmentSizes = array<i32: 1, 0, 1, 1>, negative = 0 : i32, out_of_bounds = 0 : i32, boxes = array<i1: false>,
      maps = [affine_map<(t, s, d) -> (s, d)>],
      orders = [affine_map<(t, d) -> (t, d)>]}> ({}, {
    ^bb0(%x: f16):
      // expected-error @below {{expects at least one index operand}}
      "kv.write"() <{boxes = array<i1>, maps = [], negative = 0 : i32, operandSegmentSizes = array<i32: 0, 0, 0, 0>,
                     orders = [], out_of_bounds = 0 : i32}> ({}) : () -> ()
      "kv.yield"(%x) : (f16) -> ()
  })
      : (tensor<?xi64>, tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}
