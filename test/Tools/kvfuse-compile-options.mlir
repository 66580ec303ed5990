// UNSUPPORTED: plugin
// RUN: kvfuse-compile --help | FileCheck %s --check-prefix=HELP
// RUN: kvfuse-compile %s --no-versioning -o - | FileCheck %s --check-prefix=PTX
// RUN: kvfuse-compile --no-versioning - < %s | FileCheck %s --check-prefix=PTX
// RUN: kvfuse-compile %s -o %t.ptx && ptxas -arch=sm_90 %t.ptx -o %t.cubin
// RUN: kvfuse-compile %s --fuse=off --target=sm_100 -o %t.off.ptx && ptxas -arch=sm_100 %t.off.ptx -o %t.off.cubin
// RUN: kvfuse-compile %s --emit=kv | FileCheck %s --check-prefix=KV
// RUN: kvfuse-compile %s --emit=gpu | FileCheck %s --check-prefix=GPU
// RUN: kvfuse-compile %s --emit=nvvm | FileCheck %s --check-prefix=NVVM
// RUN: kvfuse-compile %s --target=cpu --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: kvfuse-compile %s -o %t.ptx --report=- | FileCheck %s --check-prefix=REPORT
// RUN: kvfuse-compile %s -o %t.ptx --report=- --tokens-per-thread=4 --block-size=32 | FileCheck %s --check-prefix=SHAPE
// RUN: kvfuse-compile %s -o %t.ptx --remarks 2>&1 | FileCheck %s --check-prefix=REMARKS

// HELP-DAG: --emit
// HELP-DAG: --fuse
// HELP-DAG: --mutates
// HELP-DAG: --negative
// HELP-DAG: -o
// HELP-DAG: --out-of-bounds
// HELP-DAG: --assume-aligned
// HELP-DAG: --assume-disjoint
// HELP-DAG: --block-size
// HELP-DAG: --count-branches
// HELP-DAG: --keep-callers
// HELP-DAG: --no-versioning
// HELP-DAG: --pdl
// HELP-DAG: --ptxas
// HELP-DAG: --remarks
// HELP-DAG: --report
// HELP-DAG: --reserved-slot
// HELP-DAG: --target
// HELP-DAG: --tokens-per-thread
// HELP-DAG: --torch-version
// HELP-DAG: --unit-stride-only

// PTX:     .target sm_90
// PTX:     .visible .entry kv_write(
// PTX-NOT: .entry

// KV:      module @kvfuse
// KV:        kv.write at
// KV-NOT:    kv.write
// GPU:     gpu.launch_func @kernels::@kv_write
// NVVM:    llvm.func @kv_write({{.*}}nvvm.kernel
// LLVM:    define {{.*}}ptr @_mlir_ciface_layer(

// REPORT:  "destinations": 2
// REPORT:  "launches": 1,
// REPORT-NEXT: "launches_unfused": 2,
// REPORT-NEXT: "name": "layer",
// REPORT-NEXT: "refused": []

// SHAPE-NOT: "min_tokens"
// SHAPE:     "block_size": 32,
// SHAPE:     "grid": "tokens",
// SHAPE-NOT: "min_tokens"
// SHAPE:     "tokens_per_thread": 4
// SHAPE-NOT: "min_tokens"

// REMARKS: kvfuse-compile-options.mlir:[[#@LINE+4]]:{{.*}} remark: [Passed] fused | Category:kvfuse | Function=layer | Destinations=2

#map = affine_map<(t, s, d) -> (s, d)>
func.func @layer(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xbf16>, %kc: tensor<?x8xf32> {bufferization.writable = true}, %vc: tensor<?x8xbf16> {bufferization.writable = true}) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32> map(#map)
  %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : tensor<?x8xbf16> into %vc : tensor<?x8xbf16> map(#map)
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xbf16>
}
