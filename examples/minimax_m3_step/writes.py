# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a layer's cache writes are done: by the chain, by one fused kernel, or not
at all.

T tokens, B pages, P tokens a page, H KV heads, D head dimension. The functions
here are what engines write by hand; they are compiled as they stand.
"""

import dataclasses
from collections.abc import Callable

import kvfuse
import torch


def write_rows(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Writes rows [T, H, D] into the pages of cache [B, H, P, D] at slots [T]."""
    page_size = cache.shape[2]
    slots = slots.to(torch.int64)
    page, offset = slots // page_size, slots % page_size
    cache[page, :, offset, :] = rows.to(cache.dtype)


def write_dense(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """K and V of a dense layer's tokens go into their caches."""
    write_rows(k_cache, slots, k)
    write_rows(v_cache, slots, v)


def write_sparse(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    index_cache: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    index_k: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """K, V and index-K of a sparse layer's tokens go into their caches."""
    write_rows(k_cache, slots, k)
    write_rows(v_cache, slots, v)
    write_rows(index_cache, slots, index_k)


def write_nothing(*_: torch.Tensor) -> None:
    """Leaves the caches as they are: what a step costs without its writes."""


@dataclasses.dataclass(frozen=True)
class Writes:
    """The writes of all dense layers and those of all sparse layers."""

    dense: Callable[..., None]
    sparse: Callable[..., None]


CHAIN = Writes(write_dense, write_sparse)
NOTHING = Writes(write_nothing, write_nothing)


def compile_writes(
    dense: tuple[torch.Tensor, ...], sparse: tuple[torch.Tensor, ...]
) -> Writes:
    """Compiles both functions once, for any number of pages and tokens.

    `dense` and `sparse` are the arguments of one layer of each kind. Layers of a
    kind share the callable: what differs between them are the addresses.
    """
    return Writes(
        kvfuse.compile(write_dense, dense), kvfuse.compile(write_sparse, sparse)
    )
