# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written where caches, or rows, may overlap.

Arguments that overlap are an error, and nothing is written (SM8). Views of one
argument are written one after the other if they overlap, and at once if not.
"""

import dataclasses
import random

import numpy
import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.branch_counts import COUNT, BranchCounts
from kvfuse_testing.views import memref

OPTIONS = ("--target=cpu", "--emit=shared", "-O0", COUNT)
CASES = 400
#: Rows of the pool, elements of a row, rows of a window, tokens.
POOL, ROW, WINDOW, TOKENS = 40, 8, 6, 2

WRITE = (
    f"  kv.write at(%slots : {memref(1, 'i64')}) negative(wrap) out_of_bounds(trap)\n"
    "    put {rows} : {rows_type} into {cache} : {cache_type} map({map})\n"
)
ELEMENTS = "affine_map<(t, s) -> (s, 0)>"
ROWS = "affine_map<(t, s, d) -> (s, d)>"


def caches() -> str:
    """@caches(slots, values, cache, values, cache)."""
    values, cache = memref(1, "i16"), memref(2, "i16")
    body = "".join(
        WRITE.format(
            rows=f"%v{name}",
            rows_type=values,
            cache=f"%{name}",
            cache_type=cache,
            map=ELEMENTS,
        )
        for name in "ab"
    )
    return (
        f"func.func @caches(%slots: {memref(1, 'i64')}, %va: {values}, %a: {cache}, "
        f"%vb: {values}, %b: {cache}) {{\n{body}  return\n}}\n"
    )


def windows(name: str, step: int) -> str:
    """A function that writes rows into the window from row %i on, and rows of the
    pool, from row %r on, into the one from row %j on."""
    type_ = f"memref<?x{ROW}xi16, strided<[?, ?], offset: ?>>"
    body = f"  %n = arith.constant {WINDOW} : index\n"
    body += "  %t = arith.constant 2 : index\n"
    for view, first, rows in (("k", "%i", "%n"), ("u", "%j", "%n"), ("w", "%r", "%t")):
        steps = 1 if view == "w" else step
        body += (
            f"  %{view} = memref.subview %pool[{first}, 0] [{rows}, {ROW}] [{steps}, 1]"
            f" : {type_} to {type_}\n"
        )
    for rows, cache in (("%v", "%k"), ("%w", "%u")):
        body += WRITE.format(
            rows=rows, rows_type=type_, cache=cache, cache_type=type_, map=ROWS
        )
    return (
        f"func.func @{name}(%slots: {memref(1, 'i64')}, %v: {type_}, %pool: {type_}, "
        f"%i: index, %j: index, %r: index) {{\n{body}  return\n}}\n"
    )


@dataclasses.dataclass
class Compiled:
    """The functions, and which branches of them ran."""

    library: abi.Library
    counts: BranchCounts


@pytest.fixture(scope="module")
def compiled(compiler) -> Compiled:
    """All functions."""
    text = caches() + windows("windows", 1) + windows("every_second", 2)
    path = compiler.compile(f"module {{\nmodule @kvfuse {{\n{text}}}\n}}\n", *OPTIONS)
    library = abi.Library(path)
    return Compiled(library, BranchCounts(library, path))


@pytest.fixture
def library(compiled: Compiled) -> abi.Library:
    """The functions alone."""
    return compiled.library


# -----------------------------------------------------------------------------
# Arguments
# -----------------------------------------------------------------------------


def tensor(memory: torch.Tensor, start: int, size: int) -> torch.Tensor:
    """A part of the memory, of rank 2."""
    return memory[start : start + size].view(-1, 4)


def call(library: abi.Library, *arguments: torch.Tensor) -> None:
    """(slots, values, cache, values, cache): one element for each slot."""
    library.call("caches", *arguments)


def test_caches_that_overlap_are_not_written(library: abi.Library):
    memory = torch.arange(64, dtype=torch.int16)
    slots, rows = torch.tensor([0, 2]), torch.tensor([-1, -2], dtype=torch.int16)
    for caches in ((0, 12), (12, 0), (0, 0)):
        lhs, rhs = (tensor(memory, start, 16) for start in caches)
        with pytest.raises(abi.KernelError, match="SM8: dest-alias: arguments 2 and 4"):
            call(library, slots, rows, lhs, rows, rhs)
        assert torch.equal(memory, torch.arange(64, dtype=torch.int16))


def test_rows_that_lie_in_a_cache(library: abi.Library):
    memory = torch.arange(64, dtype=torch.int16)
    slots = torch.tensor([0, 2])
    lhs, rhs = tensor(memory, 0, 16), tensor(memory, 16, 16)
    inside, outside = memory[30:32], memory[32:34]
    with pytest.raises(abi.KernelError, match="SM8: dest-alias: arguments 3 and 4"):
        call(library, slots, outside, lhs, inside, rhs)
    with pytest.raises(abi.KernelError, match="SM8: dest-alias: arguments 1 and 4"):
        call(library, slots, inside, lhs, outside, rhs)
    assert torch.equal(memory, torch.arange(64, dtype=torch.int16))


def test_what_is_only_read_may_overlap(library: abi.Library):
    """One tensor as the rows of both caches, beside them in memory."""
    memory = torch.arange(64, dtype=torch.int16)
    slots, rows = torch.tensor([0, 2]), memory[32:34]
    call(library, slots, rows, tensor(memory, 0, 16), rows, tensor(memory, 16, 16))
    expected = torch.arange(64, dtype=torch.int16)
    expected[[0, 8, 16, 24]] = torch.tensor([32, 33, 32, 33], dtype=torch.int16)
    assert torch.equal(memory, expected)


def test_slots_that_lie_in_a_cache(library: abi.Library):
    """Arguments of other element types are compared by bytes."""
    memory = torch.arange(64, dtype=torch.int16)
    memory[60:64] = torch.tensor([2, 0, 0, 0], dtype=torch.int16)
    slots, before = memory.view(torch.int64)[15:], memory.clone()
    rows = torch.tensor([7], dtype=torch.int16)
    with pytest.raises(abi.KernelError, match="SM8: dest-alias: arguments 0 and 4"):
        call(library, slots, rows, tensor(memory, 0, 16), rows, tensor(memory, 48, 16))
    assert torch.equal(memory, before)
    call(library, slots, rows, tensor(memory, 0, 16), rows, tensor(memory, 44, 16))
    assert memory[[8, 52]].tolist() == [7, 7]


def test_elements_in_one_place(library: abi.Library):
    """What was expanded is written; where the row of one token goes is certain."""
    memory = torch.zeros(64, dtype=torch.int16)
    slots, rows = torch.tensor([2]), torch.tensor([5], dtype=torch.int16)
    call(library, slots, rows, memory[:4].expand(4, 4), rows, tensor(memory, 4, 16))
    assert memory.nonzero().flatten().tolist() == [0, 12]


# -----------------------------------------------------------------------------
# Views of one argument
# -----------------------------------------------------------------------------


def check_windows(compiled: Compiled, name: str, places: dict[str, list[int]]) -> str:
    """Writes into windows whose rows are `places`; which branch that took."""
    pool = torch.arange(POOL * ROW, dtype=torch.int16).view(POOL, ROW)
    rows = -1 - torch.arange(TOKENS * ROW, dtype=torch.int16).view(TOKENS, ROW)
    slots = torch.tensor([4, 1])
    expected = pool.numpy().copy()
    expected[[places["i"][slot] for slot in slots]] = rows.numpy()
    expected[[places["j"][slot] for slot in slots]] = expected[places["r"]]
    first = (places[argument][0] for argument in "ijr")
    compiled.counts.take()
    compiled.library.call(name, slots, rows, pool, *first)
    assert numpy.array_equal(pool.numpy(), expected), places
    (branch,) = compiled.counts.take()
    return branch


@pytest.mark.parametrize(("name", "step"), [("windows", 1), ("every_second", 2)])
def test_windows_of_one_pool(compiled: Compiled, name: str, step: int):
    rng = random.Random(step)
    seen = {"apart": 0, "at once": 0, "interleaved": 0}
    while sum(seen.values()) < CASES:
        i, j = (rng.randrange(POOL - step * (WINDOW - 1)) for _ in range(2))
        r = rng.randrange(POOL - TOKENS + 1)
        places = {
            "i": list(range(i, i + step * WINDOW, step)),
            "j": list(range(j, j + step * WINDOW, step)),
            "r": list(range(r, r + TOKENS)),
        }
        if set(places["r"]) & set(places["j"]):
            continue  # SM3: what a write reads is not what it writes.
        branch = check_windows(compiled, name, places)
        overlap = set(places["i"]) & set(places["j"] + places["r"])
        # The rows are side by side: no period tells them from every second one.
        between = i - TOKENS < r < i + step * (WINDOW - 1) + 1
        if overlap or between:
            assert branch == "apart", places
            seen["apart"] += 1
        else:
            assert branch != "apart", places
            seen["interleaved" if abs(i - j) < step * WINDOW else "at once"] += 1
    assert seen["apart"] > 20 and seen["at once"] > 20, seen
    assert (seen["interleaved"] > 20) == (step == 2), seen


def test_pool_of_one_row(compiled: Compiled):
    """All rows are one row, so that other rows are the same elements."""
    row = torch.arange(ROW, dtype=torch.int16)
    rows = torch.zeros(TOKENS, ROW, dtype=torch.int16)
    arguments = (torch.tensor([4, 1]), rows, row.expand(POOL, ROW), 0, 10, 30)
    with pytest.raises(abi.KernelError, match="SM8: overlap: argument 2, of which"):
        compiled.library.call("windows", *arguments)
    assert torch.equal(row, torch.arange(ROW, dtype=torch.int16))
