# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A layer's writes in torch, and inputs for it, for the tests of the package."""

import dataclasses

import torch

TOKENS, BLOCKS, PAGE, HEADS, DIM = 6, 8, 4, 2, 16
FP8 = torch.float8_e4m3fn


def write_rows(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Writes rows [T, H, D] into the pages of cache [B, H, P, D] at slots [T]."""
    slots = slots.to(torch.int64)
    page, offset = slots // cache.shape[2], slots % cache.shape[2]
    cache[page, :, offset, :] = rows.to(cache.dtype)


def write_layer(k_cache, v_cache, index_cache, k, v, index_k, slots):
    """K and V [T, H, D] and index-K [T, 1, D] into their caches."""
    write_rows(k_cache, slots, k)
    write_rows(v_cache, slots, v)
    write_rows(index_cache, slots, index_k)


@dataclasses.dataclass
class Inputs:
    """Pools that own the bytes, and the views that `write_layer` takes."""

    kv_pool: torch.Tensor
    index_pool: torch.Tensor
    rows: tuple[torch.Tensor, ...]
    slots: torch.Tensor

    @property
    def arguments(self) -> tuple[torch.Tensor, ...]:
        caches = self.kv_pool[:, 0], self.kv_pool[:, 1], self.index_pool
        return (*caches, *self.rows, self.slots)

    def assert_same_bytes(self, other: "Inputs") -> None:
        for name in ("kv_pool", "index_pool"):
            mine, its = getattr(self, name), getattr(other, name)
            assert torch.equal(mine.view(torch.uint8), its.view(torch.uint8)), name


def make_inputs(tokens: int = TOKENS, dtype: torch.dtype = FP8) -> Inputs:
    """K and V as halves of one pool [B, 2, H, P, D] of `dtype`, index-K in bf16; the
    slots are distinct. The same bytes for the same arguments."""
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    return Inputs(
        random(BLOCKS, 2, HEADS, PAGE, DIM).to(dtype),
        random(BLOCKS, 1, PAGE, DIM).to(torch.bfloat16),
        tuple(random(tokens, h, DIM).to(torch.bfloat16) for h in (HEADS, HEADS, 1)),
        torch.randperm(BLOCKS * PAGE, generator=generator)[:tokens].to(torch.int32),
    )


def written_by_eager(function=write_layer, **parameters) -> Inputs:
    """Inputs after torch eager has run `function` on them."""
    inputs = make_inputs(**parameters)
    function(*inputs.arguments)
    return inputs
