# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools: tensors that hold several caches, each a part, or a box of the map."""

import dataclasses
import random
from collections.abc import Callable

from .layouts import OFFSET, PAGE, PAGED, SLOT, Layout, row
from .model import Dim, Part, Range


@dataclasses.dataclass(frozen=True)
class Member:
    """One cache in a pool: how it is laid out, in which part of the tensor."""

    layout: Layout
    #: None if the map says where the cache is in the tensor.
    part: Part | None = None


@dataclasses.dataclass(frozen=True)
class PoolShape:
    """The sizes of a pool, and what is in it."""

    dims: tuple[Dim, ...]
    members: tuple[Member, ...]


def _leading(pools: tuple[int, ...], layout: Layout, behind: int) -> PoolShape:
    """`layout` once for each index of the dimensions `pools`, which stand behind
    the first `behind` dimensions of the layout."""
    before, rest = layout.dims[:behind], layout.dims[behind:]
    total = 1
    for size in pools:
        total *= size
    members = []
    for number in range(total):
        index = []
        for size in reversed(pools):
            index.insert(0, Range(number % size, 1, kept=False))
            number //= size
        part = (*(Range() for _ in before), *index, *(Range() for _ in rest))
        members.append(Member(layout, part))
    return PoolShape((*before, *pools, *rest), tuple(members))


def _kv_inside(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """[pages, 2, ...]: K and V side by side in each page."""
    return _leading((2,), layout, 1)


def _kv_outside(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """[2, pages, ...]."""
    return _leading((2,), layout, 0)


def _all_layers(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """[layers, 2, pages, ...]."""
    return _leading((rng.choice([2, 3]), 2), layout, 0)


def _halves(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """K and V as parts of the last dimension."""
    *outer, last = layout.dims
    whole = tuple(Range() for _ in outer)
    parts = (Range(0, last), Range(last, last))
    members = tuple(Member(layout, (*whole, part)) for part in parts)
    return PoolShape((*outer, 2 * last), members)


def _by_selector(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """[pages, 2, ...], but the map says which."""

    def member(number: int) -> Member:
        page, *rest = layout.coordinates
        coordinates = (page, ("number", number), *rest)
        dims = (layout.dims[0], 2, *layout.dims[1:])
        return Member(
            dataclasses.replace(layout, dims=dims, coordinates=coordinates)
        )

    members = (member(0), member(1))
    return PoolShape(members[0].layout.dims, members)


def _columns(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """Boxes of columns of one row, sometimes with a gap between."""
    gap = rng.choice([0, 0, 2])
    dims = ("N", 2 * d + gap)
    members = (
        Member(Layout(layout.page, dims, (d,), (SLOT, row(0, offset=start)), True))
        for start in (0, d + gap)
    )
    return PoolShape(dims, tuple(members))


def _page_bytes(rng: random.Random, layout: Layout, d: int) -> PoolShape:
    """Data and scales of each token next to each other in a page of bytes."""
    page, scales = layout.page, rng.choice([1, 2])
    dims = ("N", page * (d + scales))

    def member(start: int, width: int) -> Member:
        place = ("*", OFFSET, ("number", d + scales))
        place = ("+", place, row(0, offset=start))
        return Member(Layout(page, dims, (width,), (PAGE, place), True))

    return PoolShape(dims, (member(0, d), member(d, scales)))


#: Kinds of pools whose members are parts, by a layout and a head dimension.
PARTS: list[Callable[[random.Random, Layout, int], PoolShape]] = [
    _kv_inside,
    _kv_inside,
    _kv_outside,
    _all_layers,
    _halves,
]
#: Kinds of pools whose members are boxes of the map.
BOXES: list[Callable[[random.Random, Layout, int], PoolShape]] = [
    _by_selector,
    _columns,
    _page_bytes,
]


def make_pool(
    rng: random.Random, kinds: list, page: int, heads: int, d: int
) -> PoolShape:
    """A pool of caches with pages."""
    layout = rng.choice(PAGED)(page, heads, d, 0)
    return rng.choice(kinds)(rng, layout, d)
