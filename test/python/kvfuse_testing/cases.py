# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases as data: buffers made from seeds, and strided views of them.

Everything here is the same on every machine and NumPy version: random bits
come from PCG64's raw output. Sizes, strides and offsets are in elements.
"""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from . import cells

#: Elements before and after the views of a buffer.
GUARD = 64
#: Stands between slots that are not neighbours; no cache has so many slots.
NO_SLOT = 1 << 30


def raw_bits(seed: int, count: int) -> np.ndarray:
    """`count` random 64-bit words."""
    return np.random.PCG64(seed).random_raw(count)


def random_cells(dtype: str, seed: int, count: int) -> np.ndarray:
    """`count` cells of `dtype`, all bit patterns equally likely."""
    width = cells.WIDTHS[dtype]
    words = raw_bits(seed, count * width // 8 + 1)
    return words.astype("<u8").view(cells.cell_type(dtype))[:count].copy()


def canary_cells(dtype: str, seed: int, count: int) -> np.ndarray:
    """Random cells without NaNs, so that no damage hides behind rule SC6."""
    made = random_cells(dtype, seed, count)
    made[cells.nan_mask(dtype, made)] = 0x15
    return made


def row_cells(dtype: str, seed: int, count: int) -> np.ndarray:
    """Values: three in four of moderate size, one in four any bit pattern. Of f16
    and u8 all are any bit pattern."""
    made = random_cells(dtype, seed, count)
    if dtype in ("f16", "u8"):
        return made
    mantissa = {"bf16": 7, "f32": 23}[dtype]
    exponents = (raw_bits(seed + 1, count) % 24 + 110).astype(made.dtype) << mantissa
    moderate = made & ~made.dtype.type(0xFF << mantissa) | exponents
    keep = raw_bits(seed + 2, count) % 4 == 0
    return np.where(keep, made, moderate)


#: Low halves of f32 cells: none, all and single bits around every place where a
#: shorter mantissa may end, with both neighbours of the two commonest ones.
LOW_HALVES = [k << 12 for k in range(16)] + [1, 0xFFF, 0x1001, 0x7FFF, 0x8001, 0xFFFF]
#: How many f32 cells that makes.
F32_BOUNDARIES = len(LOW_HALVES) << 16


def boundary_cells(dtype: str, seed: int, count: int) -> np.ndarray:
    """All 65,536 cells of a 16-bit type; of f32, every upper half with each of
    LOW_HALVES, and then random cells. Cut off or filled up to `count` cells."""
    upper = np.arange(1 << 16, dtype=np.uint32)
    if cells.WIDTHS[dtype] == 2:
        return upper.astype(np.uint16)[:count]
    low = np.array(LOW_HALVES, dtype=np.uint32)
    known = (upper[:, None] << np.uint32(16) | low).reshape(-1)[:count]
    return np.concatenate([known, random_cells(dtype, seed, count - known.size)])


FILLS = {"canary": canary_cells, "rows": row_cells, "boundaries": boundary_cells}


@dataclasses.dataclass(frozen=True)
class Buffer:
    """One allocation of `count` elements.

    `fill` is canary, rows, boundaries or numbers; the last takes its content
    from `numbers`, the others from `seed`. `cast` says that values reach it through a cast, so that its
    NaNs compare equal.
    """

    dtype: str
    count: int
    fill: str
    seed: int = 0
    cast: bool = False
    numbers: tuple[int, ...] = ()

    def make(self) -> np.ndarray:
        """A new array of the buffer's cells."""
        if self.fill == "numbers":
            signed = np.array(self.numbers, dtype=f"<i{cells.WIDTHS[self.dtype]}")
            return signed.view(cells.cell_type(self.dtype))
        return FILLS[self.fill](self.dtype, self.seed, self.count)

    def comparable(self, array: np.ndarray) -> np.ndarray:
        """The cells of `array` as tests compare and hash them."""
        return cells.canonical(self.dtype, array) if self.cast else array


@dataclasses.dataclass(frozen=True)
class View:
    """A strided view of the buffer with number `buffer`."""

    buffer: int
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Case:
    """Buffers, and one view for each argument of the function under test."""

    buffers: tuple[Buffer, ...]
    views: tuple[View, ...]

    def make(self) -> list[np.ndarray]:
        """New arrays of all buffers."""
        return [buffer.make() for buffer in self.buffers]


def dense_strides(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense array; `order` lists its dimensions, outermost first."""
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= sizes[dim]
    return tuple(strides)


class CaseBuilder:
    """Collects the buffers and views of one case; every buffer has its seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.buffers: list[Buffer] = []
        self.views: list[View] = []

    def buffer(self, dtype: str, count: int, fill: str, cast: bool = False) -> int:
        """Adds a buffer and returns its number."""
        seed = self.seed * 1000 + 10 * len(self.buffers)
        self.buffers.append(Buffer(dtype, count, fill, seed, cast))
        return len(self.buffers) - 1

    def interleaved(
        self, dtype: str, shapes: Sequence[Sequence[int]], cast: bool
    ) -> None:
        """Caches of one shape as slices of a pool [shape[0], caches, *shape[1:]]."""
        sizes = tuple(shapes[0])
        inner = math.prod(sizes[1:])
        pool = inner * len(shapes) * sizes[0]
        number = self.buffer(dtype, pool + 2 * GUARD, "canary", cast)
        strides = dense_strides(sizes, range(len(sizes)))
        strides = (strides[0] * len(shapes), *strides[1:])
        for place in range(len(shapes)):
            self.views.append(View(number, GUARD + place * inner, sizes, strides))

    def padded(self, dtype: str, sizes: Sequence[int], cast: bool) -> None:
        """A cache inside a buffer that is larger in every dimension."""
        outer = [size + 1 for size in sizes[:-1]] + [sizes[-1] + 3]
        strides = dense_strides(outer, range(len(outer)))
        number = self.buffer(dtype, math.prod(outer) + GUARD, "canary", cast)
        offset = sum(strides[:-1]) + 2
        self.views.append(View(number, offset, tuple(sizes), strides))

    def permuted(self, dtype: str, sizes: Sequence[int], cast: bool) -> None:
        """A cache whose innermost dimension in memory is not its last."""
        order = range(len(sizes))[::-1]
        number = self.buffer(dtype, math.prod(sizes) + 2 * GUARD, "canary", cast)
        strides = dense_strides(sizes, order)
        self.views.append(View(number, GUARD, tuple(sizes), strides))

    def packed_rows(
        self, dtype: str, tokens: int, heads: Sequence[int], head_dim: int, gap: int
    ) -> None:
        """Rows [T, H, D], one view for each entry of `heads`, side by side in
        rows that also hold a query of three heads and `gap` elements of padding."""
        width = (sum(heads) + 3) * head_dim + gap
        number = self.buffer(dtype, max(tokens, 1) * width, "rows")
        offset = 3 * head_dim
        for count in heads:
            sizes = (tokens, count, head_dim)
            self.views.append(View(number, offset, sizes, (width, head_dim, 1)))
            offset += count * head_dim

    def slots(self, dtype: str, slots: Sequence[int], stride: int) -> None:
        """Slots [T], `stride` elements apart."""
        numbers = [NO_SLOT] * max(len(slots) * stride, 1)
        numbers[: len(slots) * stride : stride] = slots
        self.buffers.append(
            Buffer(dtype, len(numbers), "numbers", numbers=tuple(numbers))
        )
        place = len(self.buffers) - 1
        self.views.append(View(place, 0, (len(slots),), (stride,)))

    def build(self) -> Case:
        """The finished case."""
        return Case(tuple(self.buffers), tuple(self.views))


def distinct_slots(seed: int, count: int, total: int) -> list[int]:
    """`count` different slots in [0, total), in random order."""
    order = np.argsort(raw_bits(seed, total), kind="stable")
    return [int(slot) for slot in order[:count]]


def edge_slots(page: int, total: int) -> list[int]:
    """First slot, last of the first page, first of the second, last of all."""
    return [0, page - 1, page, total - 1]


def wrapped_slots(page: int) -> list[int]:
    """The edge slots with the last one written as -1."""
    return [0, page - 1, page, -1]
