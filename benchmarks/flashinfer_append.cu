// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlashInfer's append kernel, from its headers, as a C function: bf16 rows into
// HND caches with dense pages of any stride.

#include <cuda_bf16.h>
#include <flashinfer/page.cuh>

extern "C" int append(void *kCache, void *vCache, void *k, void *v,
                      int32_t *pages, int32_t *pageIndices, int32_t *requests,
                      int32_t *positions, int64_t tokens, int64_t heads,
                      int64_t pageSize, int64_t headDim, int64_t pageStride,
                      int64_t tokenStride, void *stream) {
  using Element = __nv_bfloat16;
  int64_t strides[] = {pageStride, pageSize * headDim, headDim};
  flashinfer::paged_kv_t<Element, int32_t> cache(
      heads, pageSize, headDim, tokens, flashinfer::QKVLayout::kHND,
      static_cast<Element *>(kCache), static_cast<Element *>(vCache), strides,
      pages, pageIndices, /*last_page_len=*/nullptr);
  return flashinfer::AppendPagedKVCache(
      cache, static_cast<Element *>(k), static_cast<Element *>(v), requests,
      positions, tokens, tokenStride, headDim, tokenStride, headDim,
      static_cast<cudaStream_t>(stream));
}
