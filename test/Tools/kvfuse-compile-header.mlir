// UNSUPPORTED: plugin
// RUN: kvfuse-compile %s --target=cpu --emit=obj -o %t.o --header=- 2>%t.err | FileCheck %s --check-prefixes=CHECK,CPU --implicit-check-not=results --implicit-check-not=_load
// RUN: FileCheck %s --check-prefix=WARNING <%t.err
// RUN: kvfuse-compile %s --target=sm_90 --emit=shared -o %t.so --header=%t.h 2>%t.err
// RUN: FileCheck %s --check-prefixes=CHECK,GPU <%t.h
// RUN: not kvfuse-compile %s --target=sm_90 --header=%t.none 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not ls %t.none

// ERROR: kvfuse-compile: error: --header goes with --emit=obj and shared
// WARNING: warning: 'results' returns values and is not exported to TVM-FFI

// CPU:      /* Functions compiled by kvfuse-compile for cpu. */
// GPU:      /* Functions compiled by kvfuse-compile for sm_90. */
// CHECK:      typedef struct KVFuseMemRef1 {
// CHECK-NEXT:   void *allocated;
// CHECK-NEXT:   void *aligned;
// CHECK-NEXT:   int64_t offset;
// CHECK-NEXT:   int64_t sizes[1];
// CHECK-NEXT:   int64_t strides[1];
// CHECK-NEXT: } KVFuseMemRef1;
// CHECK:      typedef struct KVFuseMemRef2 {

// A name that is none in C is left out, and so is one that another argument has.

// CHECK:       * write
// CHECK-NEXT:  *   0: switch: float8_e4m3fn[?, 8], written
// CHECK-NEXT:  *   1: x: bfloat16[4, 8]
// CHECK-NEXT:  *   2: int64[?]
// CHECK-NEXT:  *   3: x: bfloat16
// CHECK-NEXT:  */
// CHECK-NEXT: int32_t __tvm_ffi_write(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
// GPU:        int32_t __tvm_ffi_write_load(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
// CHECK:      const char *_mlir_ciface_write(KVFuseMemRef2 *switch_, KVFuseMemRef2 *x_, KVFuseMemRef1 *arg2, uint16_t arg3);

func.func @write(%c: tensor<?x8xf8E4M3FN> {kv.name = "switch", bufferization.writable = true},
                 %v: tensor<4x8xbf16> {kv.name = "x"}, %s: tensor<?xi64> {kv.name = "*/ #error"},
                 %x: bf16 {kv.name = "x"}) -> tensor<?x8xf8E4M3FN> {
  %y = kv.cast %v : tensor<4x8xbf16> to tensor<4x8xf8E4M3FN>
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %y : tensor<4x8xf8E4M3FN> into %c : tensor<?x8xf8E4M3FN> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xf8E4M3FN>
}

func.func @results(%c: tensor<?x8xf32> {bufferization.writable = true}, %v: tensor<?x8xf32>, %s: tensor<?xi64>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xf32> into %c : tensor<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  %1 = arith.negf %v : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
