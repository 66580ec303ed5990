// Every operation in every form: the custom syntax, through the generic one and
// back, and what is left out when it is the default.
// RUN: kvfuse-opt %s | FileCheck %s
// RUN: kvfuse-opt %s -mlir-print-op-generic | kvfuse-opt | FileCheck %s
// RUN: kvfuse-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @apply
// CHECK-SAME:    %[[S:.*]]: tensor<?xi64>, %[[P:.*]]: tensor<?xi64>, %[[X:.*]]: i64, %[[V:.*]]: vector<4xi64>
func.func @apply(%s: tensor<?xi64>, %p: tensor<?xi64>, %x: i64, %v: vector<4xi64>) {
  // CHECK: kv.apply #{{.*}}(%[[S]]) : tensor<?xi64>
  %0 = kv.apply affine_map<(s) -> (s floordiv 48)>(%s) : tensor<?xi64>
  // CHECK: kv.apply #{{.*}}(%[[S]], %[[P]]) : tensor<?xi64>
  %1 = kv.apply affine_map<(s, p) -> ((s mod 32) * 132 + p - 7)>(%s, %p) : tensor<?xi64>
  // CHECK: kv.apply #{{.*}}(%[[X]]) : i64
  %2 = kv.apply affine_map<(s) -> (s mod 1)>(%x) : i64
  // CHECK: kv.apply #{{.*}}(%[[V]]) {note = 1 : i64} : vector<4xi64>
  %3 = kv.apply affine_map<(s) -> (s mod 3)>(%v) {note = 1} : vector<4xi64>
  return
}

// CHECK-LABEL: func.func @cast
// CHECK-SAME:    %[[T:.*]]: tensor<?x8xbf16>, %[[X:.*]]: f32, %[[V:.*]]: vector<4xf8E4M3FN>
func.func @cast(%t: tensor<?x8xbf16>, %x: f32, %v: vector<4xf8E4M3FN>) {
  // CHECK: kv.cast %[[T]] : tensor<?x8xbf16> to tensor<?x8xf8E5M2>
  %0 = kv.cast %t : tensor<?x8xbf16> to tensor<?x8xf8E5M2>
  // CHECK: kv.cast %[[T]] saturating : tensor<?x8xbf16> to tensor<?x8xf8E4M3FN>
  %1 = kv.cast %t saturating : tensor<?x8xbf16> to tensor<?x8xf8E4M3FN>
  // CHECK: kv.cast %[[X]] saturating : f32 to f8E5M2FNUZ
  %2 = kv.cast %x saturating : f32 to f8E5M2FNUZ
  // CHECK: kv.cast %[[V]] : vector<4xf8E4M3FN> to vector<4xf16>
  %3 = kv.cast %v : vector<4xf8E4M3FN> to vector<4xf16>
  return
}

// One destination, tensors, i64; neither order nor region is printed.
// CHECK-LABEL: func.func @one
// GENERIC-LABEL: sym_name = "one"
func.func @one(%s: tensor<?xi64>, %v: tensor<?x4x128xbf16>, %c: tensor<?x4x32x128xbf16>)
    -> tensor<?x4x32x128xbf16> {
  // CHECK:      kv.write at(%{{.*}} : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
  // CHECK-NEXT:   put %{{.*}} : tensor<?x4x128xbf16> into %{{.*}} : tensor<?x4x32x128xbf16> map(#{{[a-z0-9]*}}){{$}}
  // GENERIC:      "kv.write"(%{{.*}}) <{boxes = array<i1: false>
  // GENERIC-SAME: negative = 0 : i32
  // GENERIC-SAME: operandSegmentSizes = array<i32: 1, 0, 1, 1>
  // GENERIC-SAME: out_of_bounds = 0 : i32
  // GENERIC-SAME: }> ({
  // GENERIC-NEXT: }, {
  // GENERIC-NEXT: ^bb0(%[[X:.*]]: bf16):
  // GENERIC-NEXT:   "kv.yield"(%[[X]]) : (bf16) -> ()
  // GENERIC-NEXT: }) : (tensor<?xi64>, tensor<?x4x32x128xbf16>, tensor<?x4x128xbf16>) -> tensor<?x4x32x128xbf16>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x4x128xbf16> into %c : tensor<?x4x32x128xbf16>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
        order(affine_map<(t, h, d) -> (t, h, d)>) {
    ^bb0(%x: bf16):
      kv.yield %x : bf16
    }
  return %0 : tensor<?x4x32x128xbf16>
}

// Two destinations, memrefs of any strides, i32 and i64 mixed, a mask.
// CHECK-LABEL: func.func @two
func.func @two(%p: memref<?xi64, strided<[?], offset: ?>>, %o: memref<?xi32>, %m: memref<?xi1>,
               %k: memref<?x4x128xbf16, strided<[1024, 128, 1], offset: 512>>,
               %v: memref<?x4x128xbf16>,
               %kc: memref<?x32x4x128xbf16, strided<[?, ?, ?, ?], offset: ?>>,
               %vc: memref<?x32x4x128xf8E5M2>) {
  // CHECK:      kv.write at(%{{.*}}, %{{.*}} : memref<?xi64, strided<[?], offset: ?>>, memref<?xi32>) mask(%{{.*}} : memref<?xi1>) negative(error) out_of_bounds(skip)
  // CHECK-NEXT:   put %{{.*}} : memref<?x4x128xbf16, strided<[1024, 128, 1], offset: 512>> into %{{.*}} : memref<?x32x4x128xbf16, strided<[?, ?, ?, ?], offset: ?>> map(#{{[a-z0-9]*}}){{$}}
  // CHECK-NEXT:   put %{{.*}} : memref<?x4x128xbf16> into %{{.*}} : memref<?x32x4x128xf8E5M2> map(#{{[a-z0-9]*}}) {
  // CHECK-NEXT:   ^bb0(%[[X:.*]]: bf16):
  // CHECK-NEXT:     %[[Y:.*]] = kv.cast %[[X]] : bf16 to f8E5M2
  // CHECK-NEXT:     kv.yield %[[Y]] : f8E5M2
  // CHECK-NEXT:   }{{$}}
  // CHECK-NEXT: return
  kv.write at(%p, %o : memref<?xi64, strided<[?], offset: ?>>, memref<?xi32>) mask(%m : memref<?xi1>)
      negative(error) out_of_bounds(skip)
    put %k : memref<?x4x128xbf16, strided<[1024, 128, 1], offset: 512>>
        into %kc : memref<?x32x4x128xbf16, strided<[?, ?, ?, ?], offset: ?>>
        map(affine_map<(t, p, o, h, d) -> (p, o, h, d)>)
    put %v : memref<?x4x128xbf16> into %vc : memref<?x32x4x128xf8E5M2>
        map(affine_map<(t, p, o, h, d) -> (p, o, h, d)>) {
    ^bb0(%x: bf16):
      %y = kv.cast %x : bf16 to f8E5M2
      kv.yield %y : f8E5M2
    }
  return
}

// Five destinations: HND, NHD, a flat pool, a byte row, and a column box whose
// values come head by head.
// CHECK-LABEL: func.func @five
func.func @five(%s: tensor<?xi32>, %k: tensor<?x4x128xbf16>, %b: tensor<?x132xi8>,
                %l: tensor<2x?x64xf16>,
                %hnd: tensor<?x4x32x128xbf16>, %nhd: tensor<?x3x4x128xbf16>,
                %pool: tensor<?x4x128xbf16>, %bytes: tensor<?x4224xi8>, %latent: tensor<?x2x576xf16>) {
  // CHECK:        %{{.*}}:5 = kv.write at(%{{.*}} : tensor<?xi32>) negative(undefined) out_of_bounds(undefined)
  // CHECK-COUNT-4:  put {{.*}} map(#{{[a-z0-9]*}}){{$}}
  // CHECK-NEXT:     put %{{.*}} : tensor<2x?x64xf16> into %{{.*}} : tensor<?x2x576xf16> box map(#{{[a-z0-9]*}}) order(#{{[a-z0-9]*}}) attributes {note = "five"}
  %0:5 = kv.write at(%s : tensor<?xi32>) negative(undefined) out_of_bounds(undefined)
    put %k : tensor<?x4x128xbf16> into %hnd : tensor<?x4x32x128xbf16>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
    put %k : tensor<?x4x128xbf16> into %nhd : tensor<?x3x4x128xbf16>
        map(affine_map<(t, s, h, d) -> (s floordiv 3, s mod 3, h, d)>)
    put %k : tensor<?x4x128xbf16> into %pool : tensor<?x4x128xbf16>
        map(affine_map<(t, s, h, d) -> (s, h, d)>)
    put %b : tensor<?x132xi8> into %bytes : tensor<?x4224xi8>
        map(affine_map<(t, s, r) -> (s floordiv 32, (s mod 32) * 132 + r)>)
    put %l : tensor<2x?x64xf16> into %latent : tensor<?x2x576xf16> box
        map(affine_map<(t, s, h, c) -> (s, h, c + 512)>)
        order(affine_map<(t, h, c) -> (h, t, c)>)
    attributes {note = "five"}
  return
}

// A grid of rank 2, a grid coordinate in the map, a region 'where' that uses a
// value from outside, and a constant coordinate.
// CHECK-LABEL: func.func @grid
// CHECK-SAME:    %{{.*}}: tensor<2x?xi64>, %[[PAD:.*]]: i64,
func.func @grid(%s: tensor<2x?xi64>, %pad: i64, %v: tensor<2x?x64xf32>, %c: tensor<2x?x2x64xf32>)
    -> tensor<2x?x2x64xf32> {
  // CHECK:      kv.write at(%{{.*}} : tensor<2x?xi64>) where {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: i64):
  // CHECK-NEXT:   %[[R:.*]] = arith.cmpi ne, %[[S]], %[[PAD]] : i64
  // CHECK-NEXT:   kv.yield %[[R]] : i1
  // CHECK-NEXT: } negative(wrap) out_of_bounds(skip)
  // CHECK-NEXT:   put %{{.*}} : tensor<2x?x64xf32> into %{{.*}} : tensor<2x?x2x64xf32> map(#{{[a-z0-9]*}}){{$}}
  %0 = kv.write at(%s : tensor<2x?xi64>) where {
    ^bb0(%x: i64):
      %real = arith.cmpi ne, %x, %pad : i64
      kv.yield %real : i1
    } negative(wrap) out_of_bounds(skip)
    put %v : tensor<2x?x64xf32> into %c : tensor<2x?x2x64xf32>
        map(affine_map<(b, t, s, d) -> (b, s, 1, d)>)
  return %0 : tensor<2x?x2x64xf32>
}

// Values that lack heads, tokens, or everything.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%s: memref<?xi64>, %d: memref<64xi8>, %td: memref<?x64xi8>, %one: memref<i8>,
                     %a: memref<?x4x64xi8>, %b: memref<?x4x64xi8>, %c: memref<?x4x64xi8>) {
  // CHECK:      put %{{.*}} : memref<64xi8> {{.*}} order(#{{[a-z0-9]*}})
  // CHECK-NEXT: put %{{.*}} : memref<?x64xi8> {{.*}} order(#{{[a-z0-9]*}})
  // CHECK-NEXT: put %{{.*}} : memref<i8> {{.*}} order(#{{[a-z0-9]*}})
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %d : memref<64xi8> into %a : memref<?x4x64xi8>
        map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> (d)>)
    put %td : memref<?x64xi8> into %b : memref<?x4x64xi8>
        map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> (t, d)>)
    put %one : memref<i8> into %c : memref<?x4x64xi8>
        map(affine_map<(t, s, h, d) -> (s, h, d)>) order(affine_map<(t, h, d) -> ()>)
  return
}

// Nothing but index values: scalars per token into a scale tensor.
// CHECK-LABEL: func.func @scales
func.func @scales(%s: tensor<?xi64>, %v: tensor<?xf32>, %c: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // CHECK: put %{{.*}} : tensor<?xf32> into %{{.*}} : tensor<?x16xf32> map(#{{[a-z0-9]*}}){{$}}
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?xf32> into %c : tensor<?x16xf32>
        map(affine_map<(t, s) -> (s floordiv 16, s mod 16)>)
  return %0 : tensor<?x16xf32>
}

// Layout facts stand behind the policies and behind `box`.
// CHECK-LABEL: func.func @facts
// GENERIC-LABEL: sym_name = "facts"
func.func @facts(%s: memref<?xi64>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
                 %c: memref<?x128xbf16>) {
  // CHECK:      kv.write at(%{{.*}} : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
  // CHECK-NEXT:   put %{{.*}} into %{{.*}} : memref<?x128xbf16> box access(8) map(
  // CHECK-NEXT:   put %{{.*}} into %{{.*}} : memref<?x128xbf16> box access(1) map(
  // GENERIC:    accesses = array<i64: 8, 1>
  // GENERIC-SAME: disjoint
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %k : memref<?x64xbf16> into %c : memref<?x128xbf16> box access(8)
        map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x64xbf16> into %c : memref<?x128xbf16> box access(1)
        map(affine_map<(t, s, d) -> (s, d + 64)>)
  return
}
