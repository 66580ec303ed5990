# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the write kernel is measured on: layers' caches, rows and slots."""

import dataclasses
from collections.abc import Iterable

import torch

HEAD_DIM = 128
LAYERS = 60
FP8, BF16 = torch.float8_e4m3fn, torch.bfloat16


class NotMeasuredError(Exception):
    """A way of writing that cannot write a case, or is left out there."""


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
        parts = [f"T={self.tokens}", f"H={self.heads}", self.type_name()]
        parts += ["index-K"] * self.has_index + ["separate"] * (not self.is_pooled)
        return " ".join([*parts, f"B={self.pages}", f"P={self.page_size}"])

    def type_name(self) -> str:
        return "fp8" if self.dtype.itemsize == 1 else "bf16"

    def fields(self) -> dict:
        """The case as a benchmark records it; `bytes` are those that a layer moves."""
        return {
            "case": self.name(),
            **dataclasses.asdict(self),
            "dtype": self.type_name(),
            "bytes": self.loaded_bytes() + self.stored_bytes(),
        }

    def stored_bytes(self) -> int:
        """Bytes that the rows of a layer take in the caches."""
        row = self.tokens * HEAD_DIM
        return row * (2 * self.heads * self.dtype.itemsize + 2 * self.has_index)

    def loaded_bytes(self) -> int:
        """Bytes of a layer's rows."""
        return self.tokens * HEAD_DIM * 2 * (2 * self.heads + self.has_index)


def long_case(tokens: int, heads: int, dtype: torch.dtype) -> Case:
    """A case of prefill, which fills its pages of 64 tokens."""
    return Case(tokens, heads, dtype, pages=tokens // 64, page_size=64)


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

    def cache_bytes(self) -> list[torch.Tensor]:
        """The caches, as bytes."""
        caches = [self.k_cache, self.v_cache, self.index_cache]
        return [cache.view(torch.uint8) for cache in caches if cache is not None]


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


def make_layers(
    case: Case, device: str | torch.device = "cuda", count: int = LAYERS
) -> list[Layer]:
    """The layers of a model, each with caches and rows of its own, the same slots."""
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(case.pages * case.page_size, generator=generator)
    slots = order[: case.tokens].to(torch.int32).to(device)
    return [make_layer(case, slots, seed) for seed in range(count)]


def decode_cases() -> Iterable[Case]:
    for tokens in (1, 8, 64, 256):
        for heads in (1, 4, 8):
            for dtype in (FP8, BF16):
                yield Case(tokens, heads, dtype)
                yield Case(tokens, heads, dtype, has_index=False)


def prefill_cases() -> Iterable[Case]:
    for tokens in (1024, 8192, 32768):
        for heads in (1, 4, 8):
            for dtype in (FP8, BF16):
                yield long_case(tokens, heads, dtype)
    yield dataclasses.replace(long_case(8192, 4, BF16), has_index=False)


def inductor_cases() -> Iterable[Case]:
    """Where Inductor is measured, which compiles each case anew."""
    for heads in (1, 8):
        yield Case(64, heads, FP8)
        yield Case(64, heads, FP8, is_pooled=False)
    yield Case(64, 8, FP8, pages=256)


def bar_cases() -> Iterable[Case]:
    """The cases of write_bars: decode, Inductor, FlashInfer, growth with the pages,
    prefill."""
    for tokens in (1, 64):
        for heads in (4, 8):
            yield Case(tokens, heads, FP8)
            yield Case(tokens, heads, BF16, has_index=False)
    yield from inductor_cases()
    for pages in (1024, 4096):
        yield Case(64, 8, FP8, pages=pages)
    for tokens in (8192, 32768):
        yield long_case(tokens, 4, BF16)
        yield long_case(tokens, 8, FP8)


def model_cases() -> Iterable[Case]:
    """Where kernels of other shapes are compared."""
    for tokens in (1, 64, 256):
        for heads in (1, 4, 8):
            yield Case(tokens, heads, FP8)
    for tokens in (1024, 4096, 8192, 32768):
        yield long_case(tokens, 4, BF16)
        yield long_case(tokens, 8, FP8)
