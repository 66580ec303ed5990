# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two caches in one memory: the test at the start of a compiled function (SM8).

The oracle is the set of addresses of each view, byte by byte. Views need no
memory behind them: without tokens nothing is written, but all is tested.
"""

import dataclasses
import itertools
import math
import random

import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.views import TYPES, View, cut, dense, memref

OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
RANKS = (1, 2, 3, 4, 5)
CASES = 2500
#: Ranks of the caches of the function with many.
MANY_RANKS = (3, 1, 4, 4, 2, 5, 3, 4)


# -----------------------------------------------------------------------------
# Compiled functions
# -----------------------------------------------------------------------------


def write(name: str, rank: int, type_: str) -> str:
    """The text of a write of one element per token."""
    zeros = "".join(", 0" for _ in range(rank - 1))
    return (
        f"  kv.write at(%slots : {memref(1, 'i64')}) negative(wrap)"
        " out_of_bounds(trap)\n"
        f"    put %v{name} : {memref(1, type_)} into %{name} : {memref(rank, type_)}"
        f" map(affine_map<(t, s) -> (s{zeros})>)\n"
    )


def function(lhs: str, rhs: str) -> str:
    """@f_<lhs>_<rhs>(slots, values, cache, values, cache)."""
    text, arguments = "", f"%slots: {memref(1, 'i64')}"
    for name, kind in (("a", lhs), ("b", rhs)):
        rank, type_ = int(kind[0]), kind[1:]
        arguments += f", %v{name}: {memref(1, type_)}, %{name}: {memref(rank, type_)}"
        text += write(name, rank, type_)
    return f"func.func @f_{lhs}_{rhs}({arguments}) {{\n{text}  return\n}}\n"


def many() -> str:
    """@many(slots, values, caches), with more pairs than are tested one by one."""
    body = ""
    arguments = f"%slots: {memref(1, 'i64')}, %v: {memref(1, 'i16')}"
    for number, rank in enumerate(MANY_RANKS):
        arguments += f", %c{number}: {memref(rank, 'i16')}"
        body += write(f"c{number}", rank, "i16").replace(f"%vc{number}", "%v")
    return f"func.func @many({arguments}) {{\n{body}  return\n}}\n"


@pytest.fixture(scope="module")
def library(compiler) -> abi.Library:
    """All functions."""
    pairs = [
        (f"{rank}{TYPES[size]}", f"{other}{TYPES[other_size]}")
        for rank, other in itertools.product(RANKS, RANKS)
        for size, other_size in ((2, 2), (1, 4), (8, 1))
    ]
    text = "\n".join([many(), *itertools.starmap(function, pairs)])
    path = compiler.compile(f"module {{\nmodule @kvfuse {{\n{text}}}\n}}\n", *OPTIONS)
    return abi.Library(path)


@pytest.fixture(scope="module")
def message(library: abi.Library):
    """What a function says of two views: None if it takes them."""
    slots = torch.empty(0, dtype=torch.int64)
    values = View(0, (0,), (1,)).descriptor(0)

    def call(lhs: View, rhs: View, offsets: tuple[int, int] = (0, 0)) -> str | None:
        try:
            library.call(
                f"f_{lhs.kind()}_{rhs.kind()}",
                slots,
                values,
                lhs.descriptor(offsets[0]),
                values,
                rhs.descriptor(offsets[1]),
            )
        except abi.KernelError as error:
            return str(error)
        return None

    return call


# -----------------------------------------------------------------------------
# What has to be taken
# -----------------------------------------------------------------------------

ALL = slice(None)


def pools() -> dict[str, tuple[View, View]]:
    """K and V of one buffer, pages of 3 slots, 2 heads, 8 elements."""
    pairs = {}
    for pages in (1, 4):
        hnd, nhd = dense(pages, 2, 2, 3, 8), dense(pages, 2, 3, 2, 8)
        padded = dense(pages, 2, 2, 3, 8, pad=5)
        halves = dense(2, pages, 3, 2, 8)
        for name, pool in (("hnd", hnd), ("nhd", nhd), ("padded", padded)):
            views = [cut(pool, ALL, half, ALL, ALL, ALL) for half in (0, 1)]
            pairs[f"{name}-{pages}"] = views[0], views[1]
            # The other way round, and from the last page to the first.
            pairs[f"{name}-{pages}-turned"] = views[1], views[0]
            back = cut(views[0], slice(None, None, -1), ALL, ALL, ALL)
            pairs[f"{name}-{pages}-back"] = back, views[1]
        pairs[f"halves-{pages}"] = (
            cut(halves, 0, *[ALL] * 4),
            cut(halves, 1, *[ALL] * 4),
        )
    return pairs


def packed_rows() -> dict[str, tuple[View, View]]:
    """K and V in one row, of equal and of other width; parts of a packed QKV."""
    pairs = {}
    for heads, page in itertools.product((1, 3), (1, 4)):
        for name, shape in (("hnd", (heads, page)), ("nhd", (page, heads))):
            for k, v in ((8, 8), (192, 128)):
                rows = dense(5, *shape, k + v)
                pairs[f"{name}-{heads}-{page}-{k}-{v}"] = (
                    cut(rows, ALL, ALL, ALL, slice(0, k)),
                    cut(rows, ALL, ALL, ALL, slice(k, None)),
                )
    qkv = dense(7, 6, 8)
    pairs["heads"] = cut(qkv, ALL, slice(2, 4), ALL), cut(qkv, ALL, slice(4, 6), ALL)
    return pairs


def layers() -> dict[str, tuple[View, View]]:
    """Two layers of all in one buffer, and neighbours in one allocation."""
    behind, inside = dense(3, 4, 2, 2, 8), dense(4, 3, 2, 2, 8)
    first = dense(4, 3, 2, 8)
    size = len(first.addresses())
    return {
        "behind": (cut(behind, 0, *[ALL] * 4), cut(behind, 1, *[ALL] * 4)),
        "inside": (cut(inside, ALL, 0, *[ALL] * 3), cut(inside, ALL, 2, *[ALL] * 3)),
        "neighbours": (first, dense(5, 3, 2, 8, start=size)),
        "before": (first, dense(5, 8, start=-80)),
        "other-rank": (first, dense(9, start=size)),
    }


def odd_ones() -> dict[str, tuple[View, View]]:
    """Strides that say nothing, other types, nothing at all."""
    page = 3 * (8 + 4)
    return {
        # One head, with strides of 7 and of 0.
        "head": (
            View(0, (4, 3, 1, 8), (48, 8, 7, 1)),
            View(48, (4, 3, 1, 8), (48, 8, 0, 1)),
        ),
        "one-page": (View(0, (1, 2, 8), (5, 16, 1)), View(16, (1, 2, 8), (0, 16, 1))),
        # Rows of bytes, and their scales behind them in the page.
        "scales": (
            View(0, (5, 3, 8), (page, 8, 1), 1),
            View(24, (5, 3), (page // 4, 1), 4),
        ),
        "empty": (dense(4, 0, 8), dense(4, 3, 8)),
        "empty-anywhere": (View(0, (1 << 40, 0), (1 << 62, 0)), dense(4, 3)),
        "both-empty": (dense(0, 3), dense(3, 0)),
    }


APART = pools() | packed_rows() | layers() | odd_ones()


@pytest.mark.parametrize("name", APART)
def test_layouts_that_are_apart(message, name: str):
    lhs, rhs = APART[name]
    if 0 not in lhs.sizes:
        assert lhs.addresses().isdisjoint(rhs.addresses())
    assert message(lhs, rhs) is None
    assert message(lhs, rhs, (24, -3)) is None


@pytest.mark.parametrize(
    "name", [name for name, (lhs, _) in APART.items() if 0 not in lhs.sizes]
)
def test_one_byte_too_many(message, name: str):
    """The same views, where one begins with the last byte of the other."""
    lhs, rhs = APART[name]
    common = max(lhs.addresses())
    moved = dataclasses.replace(rhs, start=rhs.start + common - min(rhs.addresses()))
    assert "SM8: dest-alias: arguments 2 and 4 overlap" == message(lhs, moved)


# -----------------------------------------------------------------------------
# What must not be taken
# -----------------------------------------------------------------------------


def any_view(rng: random.Random, bytes: int) -> View:
    """Small, and of any strides."""
    rank = rng.choice(RANKS)
    sizes = tuple(
        rng.choice([0, 1, 1, 2, 2, 3, 4]) or rng.choice([0, 2]) for _ in range(rank)
    )
    strides = tuple(
        rng.choice([-1, 1, 1]) * rng.choice([0, 1, 2, 3, 4, 6, 8, 12]) for _ in sizes
    )
    return View(rng.randrange(64), sizes, strides, bytes)


def part_of_pool(rng: random.Random, pool: View, bytes: int) -> View:
    """A slice of the pool, of which one number may be another one."""
    parts = []
    for size in pool.sizes:
        first = rng.randrange(size)
        last = rng.randint(first, size)
        parts.append(rng.choice([first, slice(first, last), ALL, ALL]))
    if all(isinstance(part, int) for part in parts):
        parts[-1] = ALL
    view = cut(pool, *parts)
    numbers = [list(view.sizes), list(view.strides)]
    if rng.random() < 0.4:
        row = rng.choice(numbers)
        row[rng.randrange(len(row))] = rng.choice([0, 1, 2, 3, 5, 8])
    start = view.start + rng.choice([0, 0, 1, -1, bytes])
    order = rng.sample(range(len(view.sizes)), len(view.sizes))
    sizes, strides = ([row[dim] for dim in order] for row in numbers)
    scale = pool.bytes // math.gcd(pool.bytes, bytes) if rng.random() < 0.9 else 1
    return View(start, tuple(sizes), tuple(s * scale for s in strides), bytes)


def any_pair(rng: random.Random) -> tuple[View, View]:
    """Two views, in half of the cases of one pool."""
    bytes, other_bytes = rng.choice([(2, 2), (2, 2), (1, 4), (8, 1)])
    if rng.random() < 0.3:
        return any_view(rng, bytes), any_view(rng, other_bytes)
    sizes = [rng.choice([1, 2, 2, 3, 4]) for _ in range(rng.choice([2, 3, 4, 5]))]
    pool = dense(*sizes, bytes=max(bytes, other_bytes), pad=rng.choice([0, 0, 1, 3]))
    return part_of_pool(rng, pool, bytes), part_of_pool(rng, pool, other_bytes)


@pytest.mark.parametrize("seed", range(4))
def test_any_views(message, seed: int):
    rng = random.Random(seed)
    verdicts = {"taken": 0, "interleaved": 0, "refused": 0, "overlap": 0}
    for _ in range(CASES):
        lhs, rhs = any_pair(rng)
        offsets = rng.choice([(0, 0), (7, -2)])
        addresses, others = lhs.addresses(), rhs.addresses()
        said = message(lhs, rhs, offsets)
        case = f"{lhs} {rhs}: {said}"
        if said is None:
            assert addresses.isdisjoint(others), case
            verdicts["taken"] += 1
            verdicts["interleaved"] += bool(addresses and others) and not (
                max(addresses) < min(others) or max(others) < min(addresses)
            )
        else:
            assert "SM8: dest-alias: arguments 2 and 4 overlap" == said
            apart = "refused" if addresses.isdisjoint(others) else "overlap"
            verdicts[apart] += 1
            # Ranges that are apart are always seen.
            assert max(addresses) >= min(others) and max(others) >= min(addresses), case
    assert min(verdicts.values()) > 0, verdicts
    assert min(verdicts["interleaved"], verdicts["overlap"]) > CASES // 50, verdicts


def test_many_views(library: abi.Library, message):
    """The loop over many arguments says what the tests of pairs say."""
    rng = random.Random(5)
    slots = torch.empty(0, dtype=torch.int64)
    values = View(0, (0,), (1,)).descriptor(0)
    verdicts = {"taken": 0, "refused": 0}
    for _ in range(CASES):
        pool = dense(*(rng.choice([2, 2, 3]) for _ in range(5)))
        views = []
        for rank in MANY_RANKS:
            # Most lie in another pool, or are empty.
            moved = dataclasses.replace(pool, start=rng.choice([0, 1, 2, 3, 4]) * 1000)
            parts = [rng.randrange(size) for size in pool.sizes]
            for dim in rng.sample(range(5), rank):
                parts[dim] = ALL
            views.append(cut(moved, *parts))
            if rng.random() < 0.3:
                empty = (0, *views[-1].sizes[1:])
                views[-1] = dataclasses.replace(views[-1], sizes=empty)
        try:
            library.call("many", slots, values, *(view.descriptor(0) for view in views))
            said = None
        except abi.KernelError as error:
            said = str(error)
        refused = [
            number
            for number, view in enumerate(views)
            if any(message(other, view) for other in views[:number])
        ]
        expected = None
        if refused:
            number = refused[-1] + 2
            expected = f"SM8: dest-alias: argument {number} overlaps one that is written"
        assert said == expected, views
        verdicts["refused" if refused else "taken"] += 1
    assert min(verdicts.values()) > CASES // 100, verdicts
