// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-small-floats-to-bits)' -split-input-file -verify-diagnostics

func.func @computes(%x: bf16) -> bf16 {
  // expected-error @below {{'arith.addf' op computes with a float of less than 32 bits, which should have become one of 32}}
  %y = arith.addf %x, %x : bf16
  return %y : bf16
}

// -----

func.func @compares(%x: f16) -> i1 {
  // expected-error @below {{'arith.cmpf' op computes with a float of less than 32 bits}}
  %y = arith.cmpf olt, %x, %x : f16
  return %y : i1
}

// -----

func.func @computes_vector(%x: vector<4xbf16>) -> bf16 {
  // expected-error @below {{'vector.reduction' op computes with a float of less than 32 bits}}
  %y = vector.reduction <add>, %x : vector<4xbf16> into bf16
  return %y : bf16
}

// -----

// A buffer is passed by its address, whatever its elements.
func.func private @takes_buffer(memref<?xbf16>)
// expected-error @below {{'func.func' op is declared with a float of less than 32 bits, which no call can pass}}
func.func private @takes_scalar(memref<?xbf16>, bf16)
