// UNSUPPORTED: plugin
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: not kvfuse-compile %t/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not kvfuse-compile %t/parse.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// RUN: not kvfuse-compile %t/undeclared.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// RUN: not ls %t/out
// RUN: not kvfuse-compile %t/undeclared.mlir --target=sm_12345 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not kvfuse-compile %t/undeclared.mlir --target=cpu --emit=ptx 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not kvfuse-compile %t/undeclared.mlir --block-size=100 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not kvfuse-compile %t/undeclared.mlir --block-size=2048 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not kvfuse-compile %t/undeclared.mlir --tokens-per-thread=17 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not kvfuse-compile %t/order.mlir --fuse=required 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: kvfuse-compile %t/order.mlir -o %t/out --report=- | FileCheck %s --check-prefix=REPORT
// RUN: not kvfuse-compile %t/apart.mlir --fuse=required 2>&1 | FileCheck %s --check-prefix=APART
// RUN: kvfuse-compile %t/apart.mlir -o %t/out --report=- | FileCheck %s --check-prefix=APART-REPORT
// RUN: not kvfuse-compile %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not kvfuse-compile %t/apart.mlir -o %t/nowhere/out 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not kvfuse-compile %t/apart.mlir --emit=cubin --ptxas=%t/nowhere 2>&1 | FileCheck %s --check-prefix=PTXAS

// NOWHERE: kvfuse-compile: error: {{.*}}nowhere.mlir

//--- parse.mlir
// PARSE: parse.mlir:[[#@LINE+1]]:1: error:
this is no module

//--- undeclared.mlir
// TARGET: kvfuse-compile: error: unknown target 'sm_12345' for --target; known are cpu, sm_80, {{.*}}sm_90, sm_90a, sm_100, sm_100a, sm_100f, {{.*}}sm_120
// BLOCK: kvfuse-compile: error: --block-size is a multiple of 32, at most 1024
// TOKENS: kvfuse-compile: error: --tokens-per-thread is at most 16
// CPU: kvfuse-compile: error: --emit=nvvm, ptx and cubin go with a GPU target, not with --target=cpu
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // UNDECLARED:      undeclared.mlir:[[#@LINE+2]]:8: error: cache-copied: argument 2 of 'f' is written, but not declared mutated
  // UNDECLARED:      note: declare the caches that may be written: --mutates=2, or --mutates=auto for all of them
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf32>
}

//--- order.mlir
// REPORT: "launches": 2,
// REPORT: "refused": [
// REPORT:   "detail": "'unknown.read' stands between this write and the one before it; write all caches of a layer before any of them is read",
// REPORT:   "reason": "order"
func.func @f(%s: tensor<?xi64>, %v: tensor<?x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}, %d: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  "unknown.read"(%0) : (tensor<?x8xf32>) -> ()
  %x = "unknown.make"() : () -> tensor<?x8xf32>
  // ORDER: order.mlir:[[#@LINE+1]]:8: error: order: 'unknown.read' stands between
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

//--- apart.mlir
// APART-REPORT: "launches": 2,
// APART-REPORT: "reason": "alias-value"
func.func @f(%s: tensor<4xi64>, %v: tensor<4x8xf32>, %c: tensor<?x8xf32> {bufferization.writable = true}, %d: tensor<?x8xf32> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %x = tensor.extract_slice %d[0, 0] [4, 8] [1, 1] : tensor<?x8xf32> to tensor<4x8xf32>
  %0 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<4x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  // APART: apart.mlir:[[#@LINE+1]]:8: error: alias-value: what one write reads may share memory with what its neighbour writes
  %1 = kv.write at(%s : tensor<4xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<4x8xf32> into %d : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
// OUTPUT: kvfuse-compile: error: {{.*}}nowhere/out
// PTXAS: error: ptxas was not found; name it with --ptxas, or set KVFUSE_PTXAS or CUDA_HOME
// PTXAS-NOT: gpu.

//--- empty.mlir
// EMPTY: empty.mlir:{{.*}} error: no cache write was found that can be compiled
func.func @f() {
  return
}
