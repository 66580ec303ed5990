// SX5: which coordinates need a bounds test, and which may be negative (SX4), seen
// in the kernel: one `cmpi ult` per test, one `cmpi slt` per wrap. (The number of the
// thread, %thread_id_x, is compared too.)
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(convert-kv-to-gpu)' --split-input-file \
// RUN:   | FileCheck %s --implicit-check-not="cmpi slt" --implicit-check-not="{{cmpi ult, %[^t]}}"

// The offset lies in [0, 32), heads and head dimension are covered exactly.
// CHECK-LABEL: func.func @pages(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @pages(%s: memref<?xi64>, %v: memref<?x4x8xf32>, %c: memref<?x4x32x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c : memref<?x4x32x8xf32>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}

// -----

// Rows of sizes that only the call knows: the host compares them (SX10).
// CHECK-LABEL: func.func @covered(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @covered(%s: memref<?xi64>, %v: memref<?x?x?xf32>, %c: memref<?x?x32x?xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x?x?xf32> into %c : memref<?x?x32x?xf32>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}

// -----

// Without wrap a negative coordinate is one that is too large.
// CHECK-LABEL: func.func @no_wrap(
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @no_wrap(%s: memref<?xi64>, %v: memref<?x4x8xf32>, %c: memref<?x4x32x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c : memref<?x4x32x8xf32>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}

// -----

// Case C1: pages of the cache that are smaller than the divisor. A remainder is
// never negative.
// CHECK-LABEL: func.func @smaller_page(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @smaller_page(%s: memref<?xi64>, %v: memref<?x4x8xf32>, %c: memref<?x4x16x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c : memref<?x4x16x8xf32>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}

// -----

// Or of a size that only the call knows.
// CHECK-LABEL: func.func @unknown_page(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @unknown_page(%s: memref<?xi64>, %v: memref<?x4x8xf32>, %c: memref<?x4x?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c : memref<?x4x?x8xf32>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return
}

// -----

// Pages without rows.
// CHECK-LABEL: func.func @no_page(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @no_page(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x0x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x0x8xf32>
        map(affine_map<(t, s, d) -> (s floordiv 32, s mod 32, d)>)
  return
}

// -----

// 31 * 132 + 131 is 4223: inside.
// CHECK-LABEL: func.func @byte_row(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @byte_row(%s: memref<?xi64>, %v: memref<?x132xi8>, %c: memref<?x4224xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x132xi8> into %c : memref<?x4224xi8>
        map(affine_map<(t, s, r) -> (s floordiv 32, (s mod 32) * 132 + r)>)
  return
}

// -----

// And this is outside, so each element is tested.
// CHECK-LABEL: func.func @byte_row_too_long(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @byte_row_too_long(%s: memref<?xi64>, %v: memref<?x132xi8>, %c: memref<?x4223xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x132xi8> into %c : memref<?x4223xi8>
        map(affine_map<(t, s, r) -> (s floordiv 32, (s mod 32) * 132 + r)>)
  return
}

// -----

// Constants inside their dimension.
// CHECK-LABEL: func.func @selector(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @selector(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x2x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x2x8xf32>
        map(affine_map<(t, s, d) -> (s, 1, d)>)
  return
}

// -----

// Outside, and negative.
// CHECK-LABEL: func.func @selector_outside(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @selector_outside(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x2x2x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x2x2x8xf32>
        map(affine_map<(t, s, d) -> (s, 2, -1, d)>)
  return
}

// -----

// A box of columns 512 to 575.
// CHECK-LABEL: func.func @columns(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @columns(%s: memref<?xi64>, %v: memref<?x64xf32>, %c: memref<?x576xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x64xf32> into %c : memref<?x576xf32> box
        map(affine_map<(t, s, c) -> (s, c + 512)>)
  return
}

// -----

// One column too few.
// CHECK-LABEL: func.func @columns_outside(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @columns_outside(%s: memref<?xi64>, %v: memref<?x64xf32>, %c: memref<?x575xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x64xf32> into %c : memref<?x575xf32> box
        map(affine_map<(t, s, c) -> (s, c + 512)>)
  return
}

// -----

// Columns that begin before the first.
// CHECK-LABEL: func.func @columns_before(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @columns_before(%s: memref<?xi64>, %v: memref<?x64xf32>, %c: memref<?x576xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x64xf32> into %c : memref<?x576xf32> box
        map(affine_map<(t, s, c) -> (s, c - 1)>)
  return
}

// -----

// A box that begins at the first column, inside, of unknown size, and broadcast:
// what has the extent of the cache is inside.
// CHECK-LABEL: func.func @box(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @box(%s: memref<?xi64>, %v: memref<?x4x?xf32>, %c: memref<?x8x?x?xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x?xf32> into %c : memref<?x8x?x?xf32> box
        map(affine_map<(t, s, h, d, e) -> (s, h, d, e)>) order(affine_map<(t, h, d, e) -> (t, h, d)>)
  return
}

// -----

// A grid coordinate, inside.
// CHECK-LABEL: func.func @grid(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @grid(%s: memref<4xi64>, %v: memref<4x8xf32>, %c: memref<4x?x8xf32>) {
  kv.write at(%s : memref<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<4x8xf32> into %c : memref<4x?x8xf32>
        map(affine_map<(t, s, d) -> (t, s, d)>)
  return
}

// -----

// A grid coordinate that only the call knows is never negative.
// CHECK-LABEL: func.func @grid_unknown(
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @grid_unknown(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<4x?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<4x?x8xf32>
        map(affine_map<(t, s, d) -> (t, s, d)>)
  return
}

// -----

// A row coordinate inside a division: 7 floordiv 2 is 3.
// CHECK-LABEL: func.func @halves(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @halves(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x4x2xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x4x2xf32>
        map(affine_map<(t, s, d) -> (s, d floordiv 2, d mod 2)>)
  return
}

// -----

// Backwards: 7 - 7 to 7 - 0.
// CHECK-LABEL: func.func @reversed(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @reversed(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32>
        map(affine_map<(t, s, d) -> (s, 7 - d)>)
  return
}

// -----

// What does not fit into 64 bits is not known.
// CHECK-LABEL: func.func @overflow(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @overflow(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32>
        map(affine_map<(t, s, d) -> (s, d * 4611686018427387904)>)
  return
}

// -----

// Bytes of a page, seen as rows of 12: ((s mod 4) * 8 + d) lies in [0, 32), so its
// row in [0, 3). Five bytes further on, the last may be in row 3.
// CHECK-LABEL: func.func @split_bytes(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @split_bytes(%s: memref<?xi64>, %v: memref<?x8xi8>, %c: memref<?x3x12xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xi8> into %c : memref<?x3x12xi8>
        map(affine_map<(t, s, d) -> (s floordiv 4, ((s mod 4) * 8 + d) floordiv 12, ((s mod 4) * 8 + d) mod 12)>)
  return
}

// -----

// CHECK-LABEL: func.func @shifted_bytes(
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi ult, %{{[^t]}}
// CHECK:         arith.cmpi ult, %{{[^t]}}
func.func @shifted_bytes(%s: memref<?xi64>, %v: memref<?x8xi8>, %c: memref<?x3x12xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xi8> into %c : memref<?x3x12xi8>
        map(affine_map<(t, s, d) -> (s floordiv 4, ((s mod 4) * 8 + d + 5) floordiv 12, ((s mod 4) * 8 + d + 5) mod 12)>)
  return
}
