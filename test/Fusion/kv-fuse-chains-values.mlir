// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-fuse-chains)' | FileCheck %s

// Cheap producers of the values move into the region, in their order.

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
