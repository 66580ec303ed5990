// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// Cheap producers of the values move into the region, in their order.

// CHECK-DAG: #[[HEADS_FIRST:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[FLAT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2 * 8 + d3)>
// CHECK-DAG: #[[INNER:.*]] = affine_map<(d0, d1, d2) -> (d2)>

// Dividing by a scale stays a division, after it the clamp, the cast, the bitcast.
// CHECK-LABEL: func @scale_clamp_cast_bitcast
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xi64>, %[[V:[^:]*]]: tensor<?x8xf32>, %[[C:[^:]*]]: tensor<?x8xi8>, %[[SCALE:[^:]*]]: f32
// CHECK-NEXT:    kv.write at(%[[S]] : tensor<?xi64>)
// CHECK-NEXT:      put %[[V]] : tensor<?x8xf32> into %[[C]]
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:        %[[DIV:.*]] = arith.divf %[[E]], %[[SCALE]] : f32
// CHECK-NEXT:        %[[MAX:.*]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:        %[[MIN:.*]] = arith.minimumf %[[DIV]], %[[MAX]] : f32
// CHECK-NEXT:        %[[CAST:.*]] = kv.cast %[[MIN]] : f32 to f8E4M3FN
// CHECK-NEXT:        %[[BITS:.*]] = arith.bitcast %[[CAST]] : f8E4M3FN to i8
// CHECK-NEXT:        kv.yield %[[BITS]] : i8
// CHECK-NEXT:      }
// CHECK-NEXT:    return
func.func @scale_clamp_cast_bitcast(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xi8>, %scale: f32) -> tensor<?x8xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %scales = tensor.splat %scale[%n] : tensor<?x8xf32>
  %max = arith.constant 448.0 : f32
  %maxs = tensor.splat %max[%n] : tensor<?x8xf32>
  %div = arith.divf %v, %scales : tensor<?x8xf32>
  %min = arith.minimumf %div, %maxs : tensor<?x8xf32>
  %cast = kv.cast %min : tensor<?x8xf32> to tensor<?x8xf8E4M3FN>
  %bits = arith.bitcast %cast : tensor<?x8xf8E4M3FN> to tensor<?x8xi8>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %bits : tensor<?x8xi8> into %c : tensor<?x8xi8> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xi8>
}

// SM6: a scaled value that the program returns is computed once for it, and once
// more in the region.
// CHECK-LABEL: func @used_elsewhere
// CHECK:         %[[W:.*]] = arith.mulf
// CHECK:         kv.write
// CHECK-NEXT:      put %{{.*}} into
// CHECK:             arith.mulf
// CHECK:         return %{{.*}}, %[[W]]
func.func @used_elsewhere(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>, %scale: f32) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %scales = tensor.splat %scale[%n] : tensor<?x8xf32>
  %w = arith.mulf %v, %scales : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %w : tensor<?x8xf32>, tensor<?x8xf32>
}

// Two tensors in one operation are not one producer.
// CHECK-LABEL: func @two_tensors
// CHECK:         %[[W:.*]] = arith.mulf
// CHECK:         kv.write
// CHECK-NEXT:      put %[[W]] : tensor<?x8xf32> into %{{.*}} map(#{{.*}})
// CHECK-NEXT:    return
func.func @two_tensors(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %g: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = arith.mulf %v, %g : tensor<?x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %w : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

// A scale in a tensor of one element is read before the write, wherever it was
// repeated.
// CHECK-LABEL: func @one_element
// CHECK-SAME:    %[[V:[^:]*]]: tensor<?x2x8xf32>, %{{[^:]*}}: tensor<?x2x8xf32>, %[[SCALE:[^:]*]]: tensor<1xf32>, %[[Z:[^:]*]]: tensor<f32>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[ZE:.*]] = tensor.extract %[[Z]][] : tensor<f32>
// CHECK-DAG:     %[[SE:.*]] = tensor.extract %[[SCALE]][%[[ZERO]]] : tensor<1xf32>
// CHECK:         kv.write
// CHECK-NEXT:      put %[[V]] :
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:        %[[D:.*]] = arith.divf %[[E]], %[[SE]] : f32
// CHECK-NEXT:        %[[F:.*]] = arith.mulf %[[D]], %[[ZE]] : f32
// CHECK-NEXT:        kv.yield %[[F]] : f32
func.func @one_element(%s: tensor<?xi64>, %v: tensor<?x2x8xf32>, %c: tensor<?x2x8xf32>, %scale: tensor<1xf32>, %z: tensor<f32>) -> tensor<?x2x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %s0 = tensor.collapse_shape %scale [] : tensor<1xf32> into tensor<f32>
  %b = linalg.broadcast ins(%s0 : tensor<f32>) outs(%e : tensor<?x2x8xf32>) dimensions = [0, 1, 2]
  %x = tensor.extract %z[] : tensor<f32>
  %sp = tensor.splat %x[%n] : tensor<?x2x8xf32>
  %d = arith.divf %v, %b : tensor<?x2x8xf32>
  %f = arith.mulf %d, %sp : tensor<?x2x8xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %f : tensor<?x2x8xf32> into %c : tensor<?x2x8xf32> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x2x8xf32>
}

// A transposition is an order.
// CHECK-LABEL: func @transposed
// CHECK-SAME:    %[[V:[^:]*]]: tensor<2x?x8xf32>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[V]] : tensor<2x?x8xf32> into {{.*}} order(#[[HEADS_FIRST]]) {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:        kv.cast %[[E]] : f32 to bf16
func.func @transposed(%s: tensor<?xi64>, %v: tensor<2x?x8xf32>, %c: tensor<?x2x8xbf16>) -> tensor<?x2x8xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %b = linalg.transpose ins(%v : tensor<2x?x8xf32>) outs(%e : tensor<?x2x8xf32>) permutation = [1, 0, 2]
  %d = kv.cast %b : tensor<?x2x8xf32> to tensor<?x2x8xbf16>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %d : tensor<?x2x8xbf16> into %c : tensor<?x2x8xbf16> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x2x8xbf16>
}

// A broadcast over static sizes leaves dimensions out of the order.
// CHECK-LABEL: func @broadcast_rows
// CHECK-SAME:    %[[V:[^:]*]]: tensor<8xf32>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[V]] : tensor<8xf32> into {{.*}} order(#[[INNER]]) {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:        kv.cast %[[E]] : f32 to bf16
func.func @broadcast_rows(%s: tensor<4xi64>, %v: tensor<8xf32>, %c: tensor<?x2x8xbf16>) -> tensor<?x2x8xbf16> {
  %e = tensor.empty() : tensor<4x2x8xbf16>
  %d = kv.cast %v : tensor<8xf32> to tensor<8xbf16>
  %b = linalg.broadcast ins(%d : tensor<8xbf16>) outs(%e : tensor<4x2x8xbf16>) dimensions = [0, 1]
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %b : tensor<4x2x8xbf16> into %c : tensor<?x2x8xbf16> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x2x8xbf16>
}

// A cast before a reshape: the reshape is done on what is cast.
// CHECK-LABEL: func @packed
// CHECK-SAME:    %[[V:[^:]*]]: tensor<?x16xf32>
// CHECK:         %[[ROWS:.*]] = tensor.expand_shape %[[V]] {{.*}} : tensor<?x16xf32> into tensor<?x2x8xf32>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[ROWS]] :
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:        arith.truncf %[[E]] : f32 to bf16
func.func @packed(%s: tensor<?xi64>, %v: tensor<?x16xf32>, %c: tensor<?x2x8xbf16>) -> tensor<?x2x8xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %d = arith.truncf %v : tensor<?x16xf32> to tensor<?x16xbf16>
  %b = tensor.expand_shape %d [[0], [1, 2]] output_shape [%n, 2, 8] : tensor<?x16xbf16> into tensor<?x2x8xbf16>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %b : tensor<?x2x8xbf16> into %c : tensor<?x2x8xbf16> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x2x8xbf16>
}

// The weight of a norm is no scale of the cache: its product stays in front.
// CHECK-LABEL: func @norm_weight
// CHECK:         %[[N:.*]] = arith.mulf
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[N]] : {{.*}} {
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT:        kv.cast %[[E]] saturating
func.func @norm_weight(%s: tensor<?xi64>, %v: tensor<?x2x8xf32>, %c: tensor<?x2x8xf8E4M3FN>, %w: tensor<8xf32>) -> tensor<?x2x8xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %b = linalg.broadcast ins(%w : tensor<8xf32>) outs(%e : tensor<?x2x8xf32>) dimensions = [0, 1]
  %d = arith.mulf %v, %b : tensor<?x2x8xf32>
  %q = kv.cast %d saturating : tensor<?x2x8xf32> to tensor<?x2x8xf8E4M3FN>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %q : tensor<?x2x8xf8E4M3FN> into %c : tensor<?x2x8xf8E4M3FN> map(affine_map<(t, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x2x8xf8E4M3FN>
}

// Rows that are flattened are read before that, for a reshape of an argument of
// any strides would be a copy; but not where they have to cover a dimension of
// unknown size (SX10).
// CHECK-LABEL: func @flattened
// CHECK-SAME:    %[[V:[^:]*]]: tensor<?x3x1x8xf32>
// CHECK-NEXT:    %[[ROWS:.*]] = tensor.collapse_shape %[[V]] {{.*}} into tensor<?x3x8xf32>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[ROWS]] : {{.*}} map(#[[FLAT]])
// CHECK:         %[[FLATTENED:.*]] = tensor.collapse_shape %[[V]] {{.*}} into tensor<?x24xf32>
// CHECK-NEXT:    kv.write
// CHECK-NEXT:      put %[[FLATTENED]] :
func.func @flattened(%s: tensor<?xi64>, %v: tensor<?x3x1x8xf32>, %c: tensor<?x24xf32>, %e: tensor<?x?xf32>) -> (tensor<?x24xf32>, tensor<?x?xf32>) {
  %f = tensor.collapse_shape %v [[0], [1, 2, 3]] : tensor<?x3x1x8xf32> into tensor<?x24xf32>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %f : tensor<?x24xf32> into %c : tensor<?x24xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %g = tensor.collapse_shape %v [[0], [1, 2, 3]] : tensor<?x3x1x8xf32> into tensor<?x24xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %g : tensor<?x24xf32> into %e : tensor<?x?xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x24xf32>, tensor<?x?xf32>
}
