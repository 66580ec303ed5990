// RUN: kvfuse-opt %s -split-input-file --verify-diagnostics -pass-pipeline='builtin.module(kv-check-in-place)'

func.func @copy_written(%c: memref<8x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) {
  // expected-note @below {{the copy is made here}}
  %a = memref.alloc() : memref<8x8xf32>
  // expected-error @below {{SM5: the cache was copied before it was written}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

func.func @copied(%c: memref<8x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) {
  %a = memref.alloc() : memref<8x8xf32>
  // expected-error @below {{SM5: a cache is copied}}
  memref.copy %c, %a : memref<8x8xf32> to memref<8x8xf32>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// What a callee writes, its caller writes.

func.func @copied_for_callee(%c: memref<8x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) {
  // expected-note @below {{the copy is made here}}
  %a = memref.alloc() : memref<8x8xf32>
  memref.copy %c, %a : memref<8x8xf32> to memref<8x8xf32>
  // expected-error @below {{SM5: the cache was copied before it was written}}
  call @write(%v, %a, %s) : (memref<?x8xf32>, memref<8x8xf32>, memref<?xi64>) -> ()
  return
}
func.func @write(%v: memref<?x8xf32>, %c: memref<8x8xf32>, %s: memref<?xi64>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Only one branch copies.

func.func @branch(%b: i1, %c: memref<8x8xf32>, %s: memref<?xi64>, %v: memref<?x8xf32>) {
  // expected-note @below {{the copy is made here}}
  %x = scf.if %b -> memref<8x8xf32> {
    %a = memref.alloc() : memref<8x8xf32>
    scf.yield %a : memref<8x8xf32>
  } else {
    scf.yield %c : memref<8x8xf32>
  }
  // expected-error @below {{SM5: the cache was copied before it was written}}
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %x : memref<8x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// The other half of the pool.

func.func @wrong_half(%pool: memref<2x?x8xf32>, %v: memref<?x8xf32>, %s: memref<?xi64>, %n: index) {
  %k = memref.subview %pool[0, 0, 0] [1, %n, 8] [1, 1, 1] : memref<2x?x8xf32> to memref<?x8xf32, strided<[8, 1]>>
  %w = memref.subview %pool[1, 0, 0] [1, %n, 8] [1, 1, 1] : memref<2x?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %k : memref<?x8xf32, strided<[8, 1]>> map(affine_map<(t, s, d) -> (s, d)>)
  // expected-error @below {{SM5: a cache is copied}}
  memref.copy %k, %w : memref<?x8xf32, strided<[8, 1]>> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  return
}
