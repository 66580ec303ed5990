# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Torch functions that write K, V and index-K into paged caches, and their calls.

T tokens, B pages, P tokens a page, H heads, D head dimension.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import kvfuse
import torch

#: The names of the arguments of the functions below.
NAMES = ("k_cache", "v_cache", "index_cache", "k", "v", "index_k", "slots")
CACHES = 3


def device() -> torch.device:
    """The device of the tests: the first GPU where there is one."""
    return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def write_hnd(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    index_cache: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    index_k: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """Writes rows [T, H, D] at slots [T] into caches [B, H, P, D]."""
    page_size = k_cache.shape[2]
    slots = slots.to(torch.int64)
    page, offset = slots // page_size, slots % page_size
    k_cache[page, :, offset, :] = k.to(k_cache.dtype)
    v_cache[page, :, offset, :] = v.to(v_cache.dtype)
    index_cache[page, :, offset, :] = index_k.to(index_cache.dtype)


def write_nhd(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    index_cache: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    index_k: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """Writes rows [T, H, D] at slots [T] into caches [B, P, H, D]."""
    page_size = k_cache.shape[1]
    slots = slots.to(torch.int64)
    page, offset = slots // page_size, slots % page_size
    k_cache[page, offset] = k.to(k_cache.dtype)
    v_cache[page, offset] = v.to(v_cache.dtype)
    index_cache[page, offset] = index_k.to(index_cache.dtype)


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a write looks like; index-K has one head."""

    heads: int = 2
    head_dim: int = 64
    page_size: int = 16
    pages: int = 6
    layout: str = "hnd"
    #: "pool": K and V are views of one pool; "apart": each has its own.
    storage: str = "pool"
    cache_dtype: torch.dtype = torch.float8_e4m3fn
    row_dtype: torch.dtype = torch.bfloat16
    slot_dtype: torch.dtype = torch.int32

    @property
    def function(self) -> Callable[..., None]:
        """The torch function that is compiled."""
        return write_hnd if self.layout == "hnd" else write_nhd

    @property
    def capacity(self) -> int:
        """Slots of a cache."""
        return self.pages * self.page_size

    def cache_shape(self, heads: int) -> tuple[int, ...]:
        """The shape of a cache of so many heads."""
        place = (
            (heads, self.page_size) if self.layout == "hnd" else (self.page_size, heads)
        )
        return (self.pages, *place, self.head_dim)


def comparable(pool: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU, in which the NaNs of an 8-bit float type are one NaN."""
    copy = pool.cpu().clone()
    if copy.dtype.is_floating_point and copy.itemsize == 1:
        copy.view(torch.uint8)[copy.float().isnan()] = 0x7F
    return copy


@dataclasses.dataclass
class Call:
    """The pools that own the bytes of the caches, and the arguments of a call."""

    pools: list[torch.Tensor]
    arguments: list[torch.Tensor]

    def bytes(self) -> list[torch.Tensor]:
        """A copy of all bytes of the pools, on the CPU.

        The NaNs of fp8 pools are made one: values were cast to them (SC6).
        """
        return [comparable(pool).view(torch.uint8) for pool in self.pools]

    def set_rows(self, seed: int, scale: float = 1.0) -> None:
        """Other values in the rows, in place."""
        generator = torch.Generator().manual_seed(seed)
        for rows in self.arguments[CACHES:-1]:
            values = scale * torch.randn(rows.shape, generator=generator)
            rows.copy_(values.to(rows.dtype))


def choose_slots(spec: Spec, tokens: int, seed: int) -> list[int]:
    """Distinct slots, none of them 0."""
    generator = torch.Generator().manual_seed(seed)
    return (
        1 + torch.randperm(spec.capacity - 1, generator=generator)[:tokens]
    ).tolist()


def make_call(
    spec: Spec,
    slots: Sequence[int],
    seed: int = 0,
    on: torch.device | None = None,
    scale: float = 1.0,
) -> Call:
    """A call that writes random rows at `slots`, the same for the same seed.

    The caches hold random numbers before; rows are slices of one packed tensor.
    """
    on = on or device()
    generator = torch.Generator().manual_seed(1000 + seed)

    def pool(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.randn(tuple(shape), generator=generator).to(dtype).to(on)

    pages, *place = spec.cache_shape(spec.heads)
    if spec.storage == "pool":
        pools = [pool((pages, 2, *place), spec.cache_dtype)]
        caches = [pools[0][:, 0], pools[0][:, 1]]
    else:
        pools = [pool((pages, *place), spec.cache_dtype) for _ in range(2)]
        caches = list(pools)
    pools.append(pool(spec.cache_shape(1), torch.bfloat16))
    widths = [count * spec.head_dim for count in (spec.heads, spec.heads, 1)]
    packed = torch.empty(len(slots), sum(widths), dtype=spec.row_dtype, device=on)
    rows = [p.unflatten(1, (-1, spec.head_dim)) for p in packed.split(widths, 1)]
    numbers = torch.tensor(list(slots), dtype=spec.slot_dtype, device=on)
    call = Call(pools, [*caches, pools[-1], *rows, numbers])
    call.set_rows(seed, scale)
    return call


def compiled(
    spec: Spec, on: torch.device | None = None, **options: object
) -> kvfuse.Compiled:
    """The compiled write of `spec` for the device of the tests."""
    example = make_call(spec, choose_slots(spec, 8, 99), on=on)
    return kvfuse.compile(spec.function, tuple(example.arguments), **options)


def eager_bytes(
    spec: Spec, call: Call, tokens: int | None = None
) -> list[torch.Tensor]:
    """What torch leaves in the pools; only the first `tokens` rows are written."""
    rows = [argument[:tokens] for argument in call.arguments[CACHES:]]
    before = [pool.clone() for pool in call.pools]
    spec.function(*call.arguments[:CACHES], *rows)
    left = call.bytes()
    for pool, old in zip(call.pools, before, strict=True):
        pool.copy_(old)
    return left


def assert_same(left: list[torch.Tensor], right: list[torch.Tensor]) -> None:
    """All bytes are equal; names the pools that differ."""
    pairs = enumerate(zip(left, right, strict=True))
    wrong = {n: int((a != b).sum()) for n, (a, b) in pairs if not torch.equal(a, b)}
    assert not wrong, f"pool -> bytes that differ: {wrong}"
