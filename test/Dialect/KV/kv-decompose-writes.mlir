// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-decompose-writes)' --mlir-print-local-scope --split-input-file | FileCheck %s

// A tensor write becomes the chain: division, remainder, cast, scatter.
// CHECK-LABEL: func.func @hnd
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[V:[^:]*]]: tensor<?x4x128xbf16>, %[[C:[^:]*]]: tensor
// CHECK-NEXT:    %[[CAST:.*]] = kv.cast %[[V]] saturating : tensor<?x4x128xbf16> to tensor<?x4x128xf8E4M3FN>
// CHECK-NEXT:    %[[P:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 32)>(%[[S]]) : tensor<?xi64>
// CHECK-NEXT:    %[[O:.*]] = kv.apply affine_map<(d0) -> (d0 mod 32)>(%[[S]]) : tensor<?xi64>
// CHECK-NEXT:    %[[W:.*]] = kv.write at(%[[P]], %[[O]] : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put %[[CAST]] : tensor<?x4x128xf8E4M3FN> into %[[C]] : tensor<?x4x32x128xf8E4M3FN> map(affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2, d4)>){{$}}
// CHECK-NEXT:    return %[[W]]
func.func @hnd(%s: tensor<?xi64>, %v: tensor<?x4x128xbf16>, %c: tensor<?x4x32x128xf8E4M3FN>)
    -> tensor<?x4x32x128xf8E4M3FN> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x128xbf16> into %c : tensor<?x4x32x128xf8E4M3FN>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
    ^bb0(%x: bf16):
      %y = kv.cast %x saturating : bf16 to f8E4M3FN
      kv.yield %y : f8E4M3FN
    }
  return %0 : tensor<?x4x32x128xf8E4M3FN>
}

// -----

// Several destinations: one after the other, each with its own map, order, box
// and region; i32 slots are widened once for each (SX1), and where they are
// coordinates themselves, not at all.
// CHECK-LABEL: func.func @several
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi32>, %[[V:[^:]*]]: tensor<?x8xf32>, %[[W:[^:]*]]: tensor<2x?x64xf16>,
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?x32x8xf32>, %[[B:[^:]*]]: tensor<?x2x576xf16>, %[[C:[^:]*]]: tensor<?x32x8xf32>
// CHECK-NEXT:    %[[S0:.*]] = arith.extsi %[[S]] : tensor<?xi32> to tensor<?xi64>
// CHECK-NEXT:    %[[P0:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 32)>(%[[S0]])
// CHECK-NEXT:    %[[O0:.*]] = kv.apply affine_map<(d0) -> (d0 mod 32)>(%[[S0]])
// CHECK-NEXT:    %[[R0:.*]] = kv.write at(%[[P0]], %[[O0]] : tensor<?xi64>, tensor<?xi64>) negative(error) out_of_bounds(skip)
// CHECK-NEXT:      put %[[V]] {{.*}} into %[[A]] {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>){{$}}
// CHECK-NEXT:    %[[R1:.*]] = kv.write at(%[[S]] : tensor<?xi32>) negative(error) out_of_bounds(skip)
// CHECK-NEXT:      put %[[W]] {{.*}} into %[[B]] {{.*}} box map(affine_map<(d0, d1, d2, d3) -> (d1, d2, d3 + 512)>) order(affine_map<(d0, d1, d2) -> (d1, d0, d2)>){{$}}
// CHECK-NEXT:    %[[NEG:.*]] = arith.negf %[[V]] : tensor<?x8xf32>
// CHECK-NEXT:    %[[S2:.*]] = arith.extsi %[[S]] : tensor<?xi32> to tensor<?xi64>
// CHECK-NEXT:    %[[P2:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 16)>(%[[S2]])
// CHECK-NEXT:    %[[R2:.*]] = kv.write at(%[[P2]], %[[S]] : tensor<?xi64>, tensor<?xi32>) negative(error) out_of_bounds(skip)
// CHECK-NEXT:      put %[[NEG]] {{.*}} into %[[C]] {{.*}} map(affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>){{$}}
// CHECK-NEXT:    return %[[R0]], %[[R1]], %[[R2]]
func.func @several(%s: tensor<?xi32>, %v: tensor<?x8xf32>, %w: tensor<2x?x64xf16>,
                   %a: tensor<?x32x8xf32>, %b: tensor<?x2x576xf16>, %c: tensor<?x32x8xf32>)
    -> (tensor<?x32x8xf32>, tensor<?x2x576xf16>, tensor<?x32x8xf32>) {
  %0:3 = kv.write at(%s : tensor<?xi32>) negative(error) out_of_bounds(skip)
    put %v : tensor<?x8xf32> into %a : tensor<?x32x8xf32>
        map(affine_map<(t, s, d) -> (s floordiv 32, s mod 32, d)>)
    put %w : tensor<2x?x64xf16> into %b : tensor<?x2x576xf16> box
        map(affine_map<(t, s, h, c) -> (s, h, c + 512)>) order(affine_map<(t, h, c) -> (h, t, c)>)
    put %v : tensor<?x8xf32> into %c : tensor<?x32x8xf32>
        map(affine_map<(t, s, d) -> (s floordiv 16, s, d)>) {
    ^bb0(%x: f32):
      %y = arith.negf %x : f32
      kv.yield %y : f32
    }
  return %0#0, %0#1, %0#2 : tensor<?x32x8xf32>, tensor<?x2x576xf16>, tensor<?x32x8xf32>
}

// -----

// In buffer form nothing is computed beforehand: maps, mask and regions stay.
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT:    kv.write at(%[[S:.*]] : memref<?xi32>) mask(%[[M:.*]] : memref<?xi1>) where {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: i64):
// CHECK-NEXT:      %[[R:.*]] = arith.cmpi ne, %[[I]], %[[PAD:.*]] : i64
// CHECK-NEXT:      kv.yield %[[R]] : i1
// CHECK-NEXT:    } negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2) -> (d1 floordiv 32, d1 mod 32, d2)>){{$}}
// CHECK-NEXT:    kv.write at(%[[S]] : memref<?xi32>) mask(%[[M]] : memref<?xi1>) where {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: i64):
// CHECK-NEXT:      %[[R:.*]] = arith.cmpi ne, %[[I]], %[[PAD]] : i64
// CHECK-NEXT:      kv.yield %[[R]] : i1
// CHECK-NEXT:    } negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put {{.*}} map(affine_map<(d0, d1, d2) -> (d1 floordiv 16, d1 mod 16, d2)>) {
// CHECK-NEXT:      ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:        kv.cast %[[X]]
// CHECK:           }{{$}}
// CHECK-NEXT:    return
func.func @buffers(%s: memref<?xi32>, %m: memref<?xi1>, %pad: i64, %v: memref<?x8xf32>,
                   %a: memref<?x32x8xf32>, %b: memref<?x16x8xf16>) {
  kv.write at(%s : memref<?xi32>) mask(%m : memref<?xi1>) where {
    ^bb0(%i: i64):
      %real = arith.cmpi ne, %i, %pad : i64
      kv.yield %real : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %a : memref<?x32x8xf32>
        map(affine_map<(t, s, d) -> (s floordiv 32, s mod 32, d)>)
    put %v : memref<?x8xf32> into %b : memref<?x16x8xf16>
        map(affine_map<(t, s, d) -> (s floordiv 16, s mod 16, d)>) {
    ^bb0(%x: f32):
      %y = kv.cast %x : f32 to f16
      kv.yield %y : f16
    }
  return
}

// -----

// SX4, SX6: the region 'where' becomes a mask, and holds beside one that is there.
// It looks at the slots, not at the coordinates, and only those that it looks at
// are widened for it.
// CHECK-LABEL: func.func @where
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi32>, %[[R:[^:]*]]: tensor<?xi32>, %[[M:[^:]*]]: tensor<?xi1>
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extsi %[[S]] : tensor<?xi32> to tensor<?xi64>
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[T:.*]] = tensor.dim %[[WIDE]], %[[C0]]
// CHECK-NEXT:    %[[ZEROS:.*]] = tensor.splat %[[ZERO]][%[[T]]] : tensor<?xi64>
// CHECK-NEXT:    %[[REAL:.*]] = arith.cmpi sge, %[[WIDE]], %[[ZEROS]] : tensor<?xi64>
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %[[M]], %[[REAL]] : tensor<?xi1>
// CHECK-NEXT:    %[[P:.*]] = kv.apply affine_map<(d0) -> (d0 floordiv 32)>(%[[WIDE]])
// CHECK-NEXT:    kv.write at(%[[P]], %[[R]] : tensor<?xi64>, tensor<?xi32>) mask(%[[BOTH]] : tensor<?xi1>) negative(wrap)
// CHECK-NEXT:      put
func.func @where(%s: tensor<?xi32>, %r: tensor<?xi32>, %m: tensor<?xi1>, %v: tensor<?x8xf32>, %c: tensor<?x?x8xf32>)
    -> tensor<?x?x8xf32> {
  %0 = kv.write at(%s, %r : tensor<?xi32>, tensor<?xi32>) mask(%m : tensor<?xi1>) where {
    ^bb0(%i: i64, %j: i64):
      %zero = arith.constant 0 : i64
      %real = arith.cmpi sge, %i, %zero : i64
      kv.yield %real : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x?x8xf32>
        map(affine_map<(t, s, r, d) -> (s floordiv 32, r, d)>)
  return %0 : tensor<?x?x8xf32>
}

// -----

// A scalar from outside, and a constant that canonicalize has moved there, are
// spread over the tensor once, however often they are used.
// CHECK-LABEL: func.func @captured
// CHECK-SAME:    %{{.*}}: tensor<4xi64>, %[[V:[^:]*]]: tensor<4x8xf32>, %{{.*}}: tensor<16x8xf16>, %[[SCALE:[^:]*]]: f32
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT:    %[[SCALES:.*]] = tensor.splat %[[SCALE]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[A:.*]] = arith.mulf %[[V]], %[[SCALES]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[TWOS:.*]] = tensor.splat %[[TWO]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[B:.*]] = arith.addf %[[A]], %[[TWOS]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[C:.*]] = arith.mulf %[[B]], %[[SCALES]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[D:.*]] = kv.cast %[[C]] : tensor<4x8xf32> to tensor<4x8xf16>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[D]]
func.func @captured(%s: tensor<4xi64>, %v: tensor<4x8xf32>, %c: tensor<16x8xf16>, %scale: f32) -> tensor<16x8xf16> {
  %two = arith.constant 2.0 : f32
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %c : tensor<16x8xf16> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %a = arith.mulf %x, %scale : f32
      %b = arith.addf %a, %two : f32
      %y = arith.mulf %b, %scale : f32
      %z = kv.cast %y : f32 to f16
      kv.yield %z : f16
    }
  return %0 : tensor<16x8xf16>
}

// -----

// A region that yields something else than a function of its argument.
// CHECK-LABEL: func.func @fill
// CHECK-SAME:    %{{.*}}: tensor<?xi64>, %[[V:[^:]*]]: tensor<?x8xf32>, %{{.*}}: tensor<16x8xi8>, %[[X:[^:]*]]: i8
// CHECK:         %[[T:.*]] = tensor.dim %[[V]], %{{.*}}
// CHECK-NEXT:    %[[ALL:.*]] = tensor.splat %[[X]][%[[T]]] : tensor<?x8xi8>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[ALL]] : tensor<?x8xi8>
func.func @fill(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<16x8xi8>, %x: i8) -> tensor<16x8xi8> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<16x8xi8> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%y: f32):
      kv.yield %x : i8
    }
  return %0 : tensor<16x8xi8>
}
