# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the write kernel is measured on: layers' caches, rows and slots."""

import dataclasses

import torch

HEAD_DIM = 128
LAYERS = 60


@dataclasses.dataclass(frozen=True)
class Case:
    """A step of T tokens into pages of P tokens, H heads of K and V."""

    tokens: int
    heads: int
    dtype: torch.dtype
    """Of the caches of K and V; rows and index-K are bf16."""
    has_index: bool = True
    pages: int = 64
    page_size: int = 32
    is_pooled: bool = True
    """K and V are views of one pool [B, 2, H, P, D]."""

    def name(self) -> str:
        kind = "fp8" if self.dtype.itemsize == 1 else "bf16"
        parts = [f"T={self.tokens}", f"H={self.heads}", kind]
        parts += ["index-K"] * self.has_index + ["separate"] * (not self.is_pooled)
        return " ".join([*parts, f"B={self.pages}", f"P={self.page_size}"])

    def stored_bytes(self) -> int:
        """Bytes that the rows of a layer take in the caches."""
        row = self.tokens * HEAD_DIM
        return row * (2 * self.heads * self.dtype.itemsize + 2 * self.has_index)

    def loaded_bytes(self) -> int:
        """Bytes of a layer's rows."""
        return self.tokens * HEAD_DIM * 2 * (2 * self.heads + self.has_index)


@dataclasses.dataclass(frozen=True)
class Layer:
    """The arguments of one layer's write. K and V caches [B, H, P, D], index-K's
    [B, 1, P, D], rows [T, H, D], slots [T] of int32; index_* are None without it."""

    k_cache: torch.Tensor
    v_cache: torch.Tensor
    index_cache: torch.Tensor | None
    k: torch.Tensor
    v: torch.Tensor
    index_k: torch.Tensor | None
    slots: torch.Tensor

    def arguments(self) -> tuple[torch.Tensor, ...]:
        """As a write takes them."""
        caches = [self.k_cache, self.v_cache, self.index_cache]
        rows = [self.k, self.v, self.index_k]
        return tuple(x for x in (*caches, *rows, self.slots) if x is not None)

    def caches(self) -> list[torch.Tensor]:
        caches = [self.k_cache, self.v_cache, self.index_cache]
        return [cache for cache in caches if cache is not None]


def make_layer(case: Case, slots: torch.Tensor, seed: int) -> Layer:
    """Empty caches and random rows, the same for equal seeds."""
    device = slots.device
    generator = torch.Generator(device).manual_seed(seed)
    shape = (case.pages, case.heads, case.page_size, HEAD_DIM)
    if case.is_pooled:
        pool = torch.zeros(case.pages, 2, *shape[1:], dtype=case.dtype, device=device)
        k_cache, v_cache = pool[:, 0], pool[:, 1]
    else:
        k_cache = torch.zeros(shape, dtype=case.dtype, device=device)
        v_cache = torch.zeros(shape, dtype=case.dtype, device=device)
    widths = [case.heads * HEAD_DIM] * 2 + [HEAD_DIM] * case.has_index
    packed = torch.randn(
        case.tokens,
        sum(widths),
        dtype=torch.bfloat16,
        device=device,
        generator=generator,
    )
    rows = [part.unflatten(1, (-1, HEAD_DIM)) for part in packed.split(widths, 1)]
    index_cache = None
    if case.has_index:
        index_shape = (case.pages, 1, case.page_size, HEAD_DIM)
        index_cache = torch.zeros(index_shape, dtype=torch.bfloat16, device=device)
    index_k = rows[2] if case.has_index else None
    return Layer(k_cache, v_cache, index_cache, *rows[:2], index_k, slots)


def make_layers(case: Case, device: str = "cuda") -> list[Layer]:
    """The layers of a model, each with caches and rows of its own."""
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(case.pages * case.page_size, generator=generator)
    slots = order[: case.tokens].to(torch.int32).to(device)
    return [make_layer(case, slots, seed) for seed in range(LAYERS)]
