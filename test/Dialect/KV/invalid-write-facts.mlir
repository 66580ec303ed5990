// Errors of kv.write: layout facts that its form or its types contradict.
// RUN: kvfuse-opt %s -split-input-file -verify-diagnostics

func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expects memrefs where layout facts are stated}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf16>, %c: tensor<?x8xf16>) {
  // expected-error @below {{expects memrefs where layout facts are stated}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf16> into %c : tensor<?x8xf16> access(1) map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

func.func @f(%s: memref<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16>, %d: memref<?x8xf16>) {
  // expected-error @below {{expects an access clause on each of 2 destinations or on none, but got 1}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf16> into %c : memref<?x8xf16> access(8) map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf16> into %d : memref<?x8xf16> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

func.func @f(%s: memref<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16>) {
  // expected-error @below {{destination 0: expects an access of a power of two, but got 6}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf16> into %c : memref<?x8xf16> access(6) map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

func.func @f(%s: memref<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16>) {
  // expected-error @below {{destination 0: expects an access of a power of two, but got 0}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf16> into %c : memref<?x8xf16> access(0) map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// The row walks in steps of two.
func.func @f(%s: memref<?xi64>, %v: memref<?x4xf16>, %c: memref<?x8xf16>) {
  // expected-error @below {{destination 0: access(4) expects a last row coordinate along the last dimensions of values and cache}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4xf16> into %c : memref<?x8xf16> access(4) map(affine_map<(t, s, d) -> (s, d * 2)>)
  return
}

// -----

// The row moves another coordinate, too.
func.func @f(%s: memref<?xi64>, %v: memref<?x4xf16>, %c: memref<?x8x8xf16>) {
  // expected-error @below {{access(4) expects a last row coordinate along the last dimensions}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4xf16> into %c : memref<?x8x8xf16> box access(4) map(affine_map<(t, s, d) -> (s, d, d)>)
  return
}

// -----

// Values lie head dimension first.
func.func @f(%s: memref<?xi64>, %v: memref<8x?xf16>, %c: memref<?x8xf16>) {
  // expected-error @below {{access(4) expects a last row coordinate along the last dimensions}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<8x?xf16> into %c : memref<?x8xf16> access(4) map(affine_map<(t, s, d) -> (s, d)>)
        order(affine_map<(t, d) -> (d, t)>)
  return
}

// -----

func.func @f(%s: memref<?xi64>, %v: memref<?x8xf16>, %c: memref<?x8xf16, strided<[8, ?]>>) {
  // expected-error @below {{access(4) expects a last dimension of stride 1, but got 'memref<?x8xf16, strided<[8, ?]>>'}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf16> into %c : memref<?x8xf16, strided<[8, ?]>> access(4) map(affine_map<(t, s, d) -> (s, d)>)
  return
}
