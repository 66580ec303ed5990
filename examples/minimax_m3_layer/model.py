# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache writes of a sparse-attention layer like MiniMax-M3's, as engines
write them. T tokens, B pages, P page size, H KV heads, D head dimension."""

import torch


def write_rows(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Writes rows [T, H, D] into the pages of cache [B, H, P, D] at slots [T]."""
    page_size = cache.shape[2]
    slots = slots.to(torch.int64)
    page, offset = slots // page_size, slots % page_size
    cache[page, :, offset, :] = rows.to(cache.dtype)


class SparseLayerWrites(torch.nn.Module):
    """K, V and index-K of the step's tokens go into their paged caches."""

    def forward(self, k_cache, v_cache, index_cache, k, v, index_k, slots):
        write_rows(k_cache, slots, k)
        write_rows(v_cache, slots, v)
        write_rows(index_cache, slots, index_k)
