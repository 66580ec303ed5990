// One-Shot Bufferize writes in place: no allocation and no copy, until somebody
// reads an old cache later. (Upstream then copies the whole cache, which is why
// fusion refuses such a program with old-cache-live.)
// RUN: kvfuse-opt %s --split-input-file \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=fully-dynamic-layout-map" \
// RUN:   --cse --canonicalize --mlir-print-local-scope | FileCheck %s

// The result is the argument's buffer.
// CHECK-LABEL: func.func @one
// CHECK-SAME:    %[[S:[^:]*]]: memref<?xi64, strided<[?], offset: ?>>, %[[V:[^:]*]]: memref<?x4x128xbf16, strided<[?, ?, ?], offset: ?>>,
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x4x32x128xbf16, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-NEXT:    kv.write at(%[[S]] : memref<?xi64, strided<[?], offset: ?>>) negative(wrap) out_of_bounds(trap)
// CHECK-NEXT:      put %[[V]] {{.*}} into %[[C]]
// CHECK-NEXT:    return %[[C]]
func.func @one(%s: tensor<?xi64>, %v: tensor<?x4x128xbf16>, %c: tensor<?x4x32x128xbf16>)
    -> tensor<?x4x32x128xbf16> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x128xbf16> into %c : tensor<?x4x32x128xbf16>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return %0 : tensor<?x4x32x128xbf16>
}

// -----

// Everything that the tensor form has, the buffer form has, too.
// CHECK-LABEL: func.func @whole
// CHECK-SAME:    %{{[^:]*}}: memref<?xi32, {{.*}}>, %[[M:[^:]*]]: memref<?xi1, {{.*}}>, %[[SCALE:[^:]*]]: f32,
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         kv.write at(%{{.*}} : memref<?xi32, {{.*}}>) mask(%[[M]] : memref<?xi1, {{.*}}>) where {
// CHECK:           kv.yield %{{.*}} : i1
// CHECK:         } negative(error) out_of_bounds(skip)
// CHECK-NEXT:      put {{.*}} box map(affine_map<(d0, d1, d2, d3) -> (d1, d2, d3 + 512)>) order(affine_map<(d0, d1, d2) -> (d1, d0, d2)>)
// CHECK-NEXT:      put {{.*}} {
// CHECK-NEXT:      ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:        arith.mulf %[[X]], %[[SCALE]]
// CHECK:           } attributes {note = 1 : i64}
// CHECK-NEXT:    return
func.func @whole(%s: tensor<?xi32>, %m: tensor<?xi1>, %scale: f32, %v: tensor<2x?x64xf16>, %w: tensor<?x8xf32>,
                 %c: tensor<?x2x576xf16>, %e: tensor<?x8xf32>) -> (tensor<?x2x576xf16>, tensor<?x8xf32>) {
  %0:2 = kv.write at(%s : tensor<?xi32>) mask(%m : tensor<?xi1>) where {
    ^bb0(%i: i64):
      %zero = arith.constant 0 : i64
      %real = arith.cmpi sge, %i, %zero : i64
      kv.yield %real : i1
    } negative(error) out_of_bounds(skip)
    put %v : tensor<2x?x64xf16> into %c : tensor<?x2x576xf16> box
        map(affine_map<(t, s, h, c) -> (s, h, c + 512)>) order(affine_map<(t, h, c) -> (h, t, c)>)
    put %w : tensor<?x8xf32> into %e : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %scale : f32
      kv.yield %y : f32
    }
    attributes {note = 1}
  return %0#0, %0#1 : tensor<?x2x576xf16>, tensor<?x8xf32>
}

// -----

// A chain of writes on one cache: one buffer, program order.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x8xf32, strided<[?, ?], offset: ?>>)
// CHECK-NEXT:    kv.write at(%[[S:.*]] : memref
// CHECK-NEXT:      put %[[V:.*]] : memref{{.*}} into %[[C]]
// CHECK-NEXT:    kv.write at(%{{.*}} : memref
// CHECK-NEXT:      put %{{.*}} into %[[C]]
// CHECK-NEXT:    return %[[C]]
func.func @chain(%s: tensor<?xi64>, %r: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%r : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %1 : tensor<?x8xf32>
}

// -----

// K and V as slices of one pool, one after the other: in place. (Upstream leaves a
// copy of each slice onto itself, which cse and canonicalize remove.)
// CHECK-LABEL: func.func @pool
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         %[[K:.*]] = memref.subview {{.*}}[0, 0, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[K]]
// CHECK-NEXT:    %[[V:.*]] = memref.subview {{.*}}[0, 1, 0]
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put {{.*}} into %[[V]]
// CHECK-NEXT:    return
func.func @pool(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %pool: tensor<64x2x8xf32>)
    -> tensor<64x2x8xf32> {
  %kc = tensor.extract_slice %pool[0, 0, 0] [64, 1, 8] [1, 1, 1] : tensor<64x2x8xf32> to tensor<64x8xf32>
  %kc1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %pool1 = tensor.insert_slice %kc1 into %pool[0, 0, 0] [64, 1, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<64x2x8xf32>
  %vc = tensor.extract_slice %pool1[0, 1, 0] [64, 1, 8] [1, 1, 1] : tensor<64x2x8xf32> to tensor<64x8xf32>
  %vc1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %vc : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %pool2 = tensor.insert_slice %vc1 into %pool1[0, 1, 0] [64, 1, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<64x2x8xf32>
  return %pool2 : tensor<64x2x8xf32>
}

// -----

// SM4: the old cache is read after the write, so the write gets a copy of it.
// CHECK-LABEL: func.func @old_cache_is_live
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x8xf32, strided<[?, ?], offset: ?>>)
// CHECK:         %[[COPY:.*]] = memref.alloc
// CHECK:         memref.copy %[[C]], %[[COPY]]
// CHECK:         kv.write
// CHECK-NEXT:      put %{{.*}} into %[[COPY]]
// CHECK:         memref.load %[[C]]
func.func @old_cache_is_live(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = tensor.extract %c[%c0, %c0] : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, f32
}

// -----

// SM5: an argument that may not be written is copied.
// CHECK-LABEL: func.func @not_writable
// CHECK:         memref.alloc
// CHECK:         memref.copy
// CHECK:         kv.write
func.func @not_writable(%s: tensor<?xi64>, %v: tensor<?x8xf32>,
                        %c: tensor<?x8xf32> {bufferization.writable = false}) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// -----

// SM1: values that are rows of the same cache are read before the first is
// written, so upstream copies one of the two.
// CHECK-LABEL: func.func @values_from_cache
// CHECK:         memref.alloc
// CHECK:         memref.copy
// CHECK:         kv.write
func.func @values_from_cache(%s: tensor<4xi64>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %rows = tensor.extract_slice %c[0, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<4x8xf32> into %c : tensor<16x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<16x8xf32>
}

// -----

// A write on buffers is left alone.
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT:    kv.write at(%{{.*}} : memref<?xi64>)
// CHECK-NEXT:      put
// CHECK-NEXT:    return
func.func @buffers(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
