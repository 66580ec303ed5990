// UNSUPPORTED: plugin
// Case G2: page 2066 of pages of 1039680 elements is element 2147978880, a number
// that is negative in 32 bits; in bytes it is 8591915520, which has 34.
// RUN: kvfuse-compile %s -o - | FileCheck %s --check-prefix=PTX
// RUN: kvfuse-compile %s --target=cpu --emit=llvm | FileCheck %s --check-prefix=LLVM

// PTX: add.s64 %rd{{[0-9]+}}, %rd{{[0-9]+}}, 8591915520;
// PTX: st.global

// LLVM: getelementptr inbounds nuw i8, ptr %{{.*}}, i64 8591915520

module { module @kvfuse {
  func.func @main(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<4096x8xf32, strided<[1039680, 1]>>) {
    kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
      put %v : memref<?x8xf32> into %c : memref<4096x8xf32, strided<[1039680, 1]>>
      map(affine_map<(t, s, d) -> (2066, d)>)
    return
  }
}}
