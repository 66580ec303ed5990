// RUN: kvfuse-compile %s --target=cpu --emit=kv -o - --report=%t.json --keep-callers | FileCheck %s
// RUN: kvfuse-compile %s --target=cpu --emit=writes -o %t.mlir --keep-callers
// RUN: FileCheck %s --check-prefix=WRITES --input-file=%t.mlir
// RUN: kvfuse-compile %t.mlir --target=cpu --emit=llvm | FileCheck %s --check-prefix=ALONE
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: not kvfuse-compile %s --target=cpu --emit=kv -o - 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not kvfuse-compile %s --target=cpu --emit=kv -o - --keep-callers --fuse=required 2>&1 | FileCheck %s --check-prefix=ERROR

// A function of known operations keeps its place. What may not be done in place
// stays in it, for a framework that runs it, and is no error then.

// CHECK:       func.func @main(
// CHECK-NEXT:    %[[NEW:.*]] = kv.write
// CHECK:         call @kv_write_0(
// CHECK-NEXT:    return %[[NEW]], %arg3
// CHECK:       module @kvfuse
// CHECK-NEXT:    func.func @kv_write_0(
// CHECK-NOT:     func.func

// The functions alone are a program, too.

// WRITES-NOT:  @main
// WRITES:      module {
// WRITES-NEXT:   module @kvfuse {
// WRITES-NEXT:     func.func @kv_write_0(
// ALONE:       @kvfuse_function_kv_write_0 = 

// REPORT:      "calls": [
// REPORT:        "argument": 2
// REPORT:      "refused": [
// REPORT:        "reason": "old-cache-live"

// ERROR: error: old-cache-live:

func.func @main(%slots: tensor<?xi64>, %x: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}, %d: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %d, %1 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
