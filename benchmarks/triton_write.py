# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plain Triton kernel that writes K, V and index-K, to compare with.

A program for each token, which loops over the heads, two warps each; sizes are
compile-time constants, and pages are dense, so that few arguments are passed.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def write_row(cache, rows, page, offset, token, head, P: tl.constexpr, D: tl.constexpr):
    """Writes one head's row [D] of a token into a page [H, P, D] of a cache."""
    dims = tl.arange(0, D)
    value = tl.load(rows + token + head * D + dims)
    place = cache + page + (head * P + offset) * D + dims
    tl.store(place, value.to(cache.dtype.element_ty))


@triton.jit
def write_token(
    k_cache,
    v_cache,
    index_cache,
    k,
    v,
    index_k,
    slots,
    kv_page_stride,
    index_page_stride,
    token_stride,
    H: tl.constexpr,
    P: tl.constexpr,
    D: tl.constexpr,
):
    """One token's rows of K and V, and its row of index-K if there is one."""
    number = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + number).to(tl.int64)
    page, offset = slot // P, slot % P
    token = number * token_stride
    for head in range(H):
        write_row(k_cache, k, page * kv_page_stride, offset, token, head, P, D)
        write_row(v_cache, v, page * kv_page_stride, offset, token, head, P, D)
    if index_cache is not None:
        row = page * index_page_stride
        write_row(index_cache, index_k, row, offset, token, 0, P, D)


def write(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    index_cache: torch.Tensor | None,
    k: torch.Tensor,
    v: torch.Tensor,
    index_k: torch.Tensor | None,
    slots: torch.Tensor,
) -> None:
    """Writes rows [T, H, D] at slots [T] into caches [B, H, P, D] with dense pages.

    All rows are slices of one packed tensor, and caches of K and V have equal strides.
    index_cache and index_k may both be None.
    """
    _, heads, page, dim = k_cache.shape
    write_token[(slots.shape[0],)](
        k_cache,
        v_cache,
        index_cache,
        k,
        v,
        index_k,
        slots,
        k_cache.stride(0),
        0 if index_cache is None else index_cache.stride(0),
        k.stride(0),
        H=heads,
        P=page,
        D=dim,
        num_warps=2,
    )
