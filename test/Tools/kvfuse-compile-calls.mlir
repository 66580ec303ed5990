// RUN: kvfuse-compile %s --target=cpu --emit=kv -o /dev/null --report=- | FileCheck %s

// What takes the place of which nodes, where a function is not compiled whole:
// nodes by the names of their locations. A location may have one for each result.

// CHECK:      "calls": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "callee": "kv_write_0",
// CHECK-NEXT:     "location": "model.py:7:0",
// CHECK-NEXT:     "operands": [
// CHECK-NEXT:       {
// CHECK-NEXT:         "argument": 0
// CHECK-NEXT:       },
// CHECK-NEXT:       {
// CHECK-NEXT:         "dim": 0,
// CHECK-NEXT:         "size_of": {
// CHECK-NEXT:           "argument": 0
// CHECK-NEXT:         }
// CHECK-NEXT:       },
// CHECK-NEXT:       {
// CHECK-NEXT:         "argument": 1
// CHECK-NEXT:       },
// CHECK-NEXT:       {
// CHECK-NEXT:         "value": "rotary"
// CHECK-NEXT:       },
// CHECK-NEXT:       {
// CHECK-NEXT:         "value": "projection"
// CHECK-NEXT:       }
// CHECK-NEXT:     ],
// CHECK-NEXT:     "writes": [
// CHECK-NEXT:       "index_put",
// CHECK-NEXT:       "index_put_1"
// CHECK-NEXT:     ],
// CHECK-NEXT:     "written": [
// CHECK-NEXT:       0
// CHECK-NEXT:     ]

// What is in the pool after the first call is the second one's operand.

// CHECK:      "callee": "kv_write_1",
// CHECK-NEXT: "location": "model.py:12:0",
// CHECK:      "writes": [
// CHECK-NEXT:   "first_k",
// CHECK-NEXT:   "first_v"
// CHECK:      "callee": "kv_write_2",
// CHECK-NEXT: "location": "model.py:14:0",
// CHECK-NEXT: "operands": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "call": 0,
// CHECK-NEXT:     "operand": 0
// CHECK-NEXT:   },

// A write of what is written already is gone, and is named apart: it has no call.

// CHECK:      "location": "model.py:20:0",
// CHECK:      "writes": [
// CHECK-NEXT:   "once"
// CHECK-NEXT: ],
// CHECK:      "repeated": [
// CHECK-NEXT:   "again"
// CHECK-NEXT: ]

#hnd = affine_map<(t, s, h, d) -> (s floordiv 16, h, s mod 16, d)>
func.func @main(%pool: tensor<?x2x4x16x8xf32> {bufferization.writable = true}, %slots: tensor<?xi64>, %x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %pool, %c0 : tensor<?x2x4x16x8xf32>
  %k = "torch.operator"(%x) : (tensor<?x4x8xf32>) -> tensor<?x4x8xf32> loc("rotary"("model.py":3:0))
  %qv:2 = "torch.operator"(%x) : (tensor<?x4x8xf32>) -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) loc(fused["query"("model.py":4:0), "projection"("model.py":4:0)])
  %0 = tensor.extract_slice %pool[0, 0, 0, 0, 0] [%n, 1, 4, 16, 8] [1, 1, 1, 1, 1] : tensor<?x2x4x16x8xf32> to tensor<?x4x16x8xf32>
  %1 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x4x8xf32> into %0 : tensor<?x4x16x8xf32> map(#hnd) loc("index_put"("model.py":7:0))
  %2 = tensor.insert_slice %1 into %pool[0, 0, 0, 0, 0] [%n, 1, 4, 16, 8] [1, 1, 1, 1, 1] : tensor<?x4x16x8xf32> into tensor<?x2x4x16x8xf32>
  %3 = tensor.extract_slice %2[0, 1, 0, 0, 0] [%n, 1, 4, 16, 8] [1, 1, 1, 1, 1] : tensor<?x2x4x16x8xf32> to tensor<?x4x16x8xf32>
  %4 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %qv#1 : tensor<?x4x8xf32> into %3 : tensor<?x4x16x8xf32> map(#hnd) loc("index_put_1"("model.py":8:0))
  %5 = tensor.insert_slice %4 into %2[0, 1, 0, 0, 0] [%n, 1, 4, 16, 8] [1, 1, 1, 1, 1] : tensor<?x4x16x8xf32> into tensor<?x2x4x16x8xf32>
  %6 = "torch.operator"(%5) : (tensor<?x2x4x16x8xf32>) -> tensor<?x4x8xf32> loc("attention"("model.py":9:0))
  return %6 : tensor<?x4x8xf32>
}

func.func @later(%pool: tensor<2x64x8xf32> {bufferization.writable = true}, %s: tensor<?xi64>, %t: tensor<?xi64>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = tensor.extract_slice %pool[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<2x64x8xf32> to tensor<64x8xf32>
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %0 : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("first_k"("model.py":12:0))
  %2 = tensor.insert_slice %1 into %pool[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<2x64x8xf32>
  %3 = tensor.extract_slice %2[1, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<2x64x8xf32> to tensor<64x8xf32>
  %4 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %3 : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("first_v"("model.py":13:0))
  %5 = tensor.insert_slice %4 into %2[1, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<2x64x8xf32>
  %6 = tensor.extract_slice %5[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<2x64x8xf32> to tensor<64x8xf32>
  %7 = kv.write at(%t : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %6 : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("second_k"("model.py":14:0))
  %8 = tensor.insert_slice %7 into %5[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<2x64x8xf32>
  %9 = "torch.operator"(%8) : (tensor<2x64x8xf32>) -> tensor<?x8xf32> loc("attention"("model.py":15:0))
  return %9 : tensor<?x8xf32>
}

func.func @repeated(%cache: tensor<64x8xf32> {bufferization.writable = true}, %s: tensor<?xi64>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %cache : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("once"("model.py":20:0))
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %0 : tensor<64x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("again"("model.py":21:0))
  %2 = "torch.operator"(%1) : (tensor<64x8xf32>) -> tensor<?x8xf32> loc("attention"("model.py":22:0))
  return %2 : tensor<?x8xf32>
}
