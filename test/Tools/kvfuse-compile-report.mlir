// RUN: kvfuse-compile %s --target=sm_90 --emit=gpu -o %t --report=- | FileCheck %s
// RUN: FileCheck %s --check-prefix=GPU --input-file=%t

// An argument is that argument also where its type has been told a stride of 1;
// with a size or a stride of its own it is a part. What is written by way of a
// cast is known, so the scale stays the kernel's to load.

// CHECK:      "kernels": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "arguments": [
// CHECK-NEXT:       0,
// CHECK-NEXT:       2,
// CHECK-NEXT:       1,
// CHECK-NEXT:       3
// CHECK-NEXT:     ],
// CHECK:          "arguments": [
// CHECK-NEXT:       0,
// CHECK-NEXT:       {
// CHECK-NEXT:         "part_of": 2
// CHECK-NEXT:       },
// CHECK-NEXT:       1,
// CHECK-NEXT:       3
// CHECK-NEXT:     ],

// GPU-LABEL: func.func @main(
// GPU-NOT:     memref.load
// GPU:       gpu.module @kernels

#rows = strided<[?, ?], offset: ?>
#unit = strided<[?, 1], offset: ?>
#map = affine_map<(t, s, d) -> (s, d)>
module {
module @kvfuse {
func.func @main(%s: memref<?xi64>, %v: memref<?x64xf32, #rows>, %c: memref<?x64xf32, #rows>,
                %scales: memref<1xf32, strided<[?], offset: ?>>, %n: index) {
  %c0 = arith.constant 0 : index
  %scale = memref.load %scales[%c0] : memref<1xf32, strided<[?], offset: ?>>
  %vb, %vo, %vs:2, %vt:2 = memref.extract_strided_metadata %v
      : memref<?x64xf32, #rows> -> memref<f32>, index, index, index, index, index
  %v1 = memref.reinterpret_cast %vb to offset: [%vo], sizes: [%vs#0, 64], strides: [%vt#0, 1]
      : memref<f32> to memref<?x64xf32, #unit>
  %cb, %co, %cs:2, %ct:2 = memref.extract_strided_metadata %c
      : memref<?x64xf32, #rows> -> memref<f32>, index, index, index, index, index
  %c1 = memref.reinterpret_cast %cb to offset: [%co], sizes: [%cs#0, 64], strides: [%ct#0, 1]
      : memref<f32> to memref<?x64xf32, #unit>
  %part = memref.reinterpret_cast %cb to offset: [%co], sizes: [%n, 64], strides: [%ct#0, 1]
      : memref<f32> to memref<?x64xf32, #unit>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v1 : memref<?x64xf32, #unit> into %c1 : memref<?x64xf32, #unit> access(4) map(#map) {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %scale : f32
      kv.yield %y : f32
    }
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v1 : memref<?x64xf32, #unit> into %part : memref<?x64xf32, #unit> access(4) map(#map) {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %scale : f32
      kv.yield %y : f32
    }
  return
}
}
}
