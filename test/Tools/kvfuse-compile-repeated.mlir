// RUN: kvfuse-compile %s --target=cpu --emit=kv --keep-callers -o %t --report=- | FileCheck %s
// RUN: FileCheck %s --check-prefix=REST --input-file=%t
// RUN: kvfuse-compile %s --target=cpu --emit=kv -o - | FileCheck %s --check-prefix=WHOLE

// What a write that repeats another one is called in the source: it has no call, and
// what a framework runs the rest leaves it out.

// CHECK:         "calls": [
// CHECK:             "writes": [
// CHECK-NEXT:          "first"
// CHECK-NEXT:        ]
// CHECK:         "repeated": [
// CHECK-NEXT:      "again"
// CHECK-NEXT:    ]

// REST:          func.func @main({{.*}} attributes {kv.repeated = ["again"]}
// REST-NEXT:       call @kv_write_0
// REST-NEXT:       return

// WHOLE-NOT:     kv.repeated

func.func @main(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}) -> tensor<?x8xf32> {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("first"("model.py":3:0))
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %0 : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) loc("again"("model.py":4:0))
  return %1 : tensor<?x8xf32>
}
