# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views inside a program that the caller places: K and V in one launch where they
have nothing in common, one after the other where they have.

NumPy does the writes in program order, so that of two that overlap V stays.
"""

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np
import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.branch_counts import COUNT, BranchCounts
from kvfuse_testing.programs import in_child

OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
PAGES, HEADS, PAGE, HEAD_DIM = 5, 2, 4, 8
SLOTS = [3, 19, 0, 8, -1 - 5, 13, 6]
PAGE_SIZE = HEADS * PAGE * HEAD_DIM
ROWS = f"tensor<?x{HEADS}x{HEAD_DIM}xf32>"
CACHE = f"tensor<?x{HEADS}x{PAGE}x{HEAD_DIM}xf32>"
VIEW = f"memref<?x{HEADS}x{PAGE}x{HEAD_DIM}xf32, strided<[?, ?, ?, ?], offset: ?>>"
MAP = f"map(affine_map<(t, s, h, d) -> (s floordiv {PAGE}, h, s mod {PAGE}, d)>)"


@dataclasses.dataclass(frozen=True)
class Places:
    """Where the two caches lie in a base.

    `shape` is the base's, None for the pages. `sizes` and `offsets` are those of a
    slice: %n stands for the pages, %a and %b for what the caller says, {0} for the
    one of them that is the cache's. `cache` is the same in NumPy.
    """

    shape: tuple[int | None, ...]
    offsets: str
    sizes: str
    cache: Callable[[np.ndarray, int], np.ndarray]

    def type(self, kind: str) -> str:
        """The type of the base as a tensor or memref."""
        sizes = "x".join("?" if size is None else str(size) for size in self.shape)
        layout = ", ".join(["?"] * len(self.shape))
        if kind == "tensor":
            return f"tensor<{sizes}xf32>"
        return f"memref<{sizes}xf32, strided<[{layout}], offset: ?>>"

    def slice(self, number: str) -> str:
        """Offsets, sizes and strides of the cache that `number` places."""
        ones = ", ".join(["1"] * len(self.shape))
        return f"[{self.offsets.format(number)}] [{self.sizes}] [{ones}]"

    def measure(self, kind: str) -> str:
        """The number of pages."""
        dim = self.shape.index(None)
        return (
            f"  %dim = arith.constant {dim} : index\n"
            f"  %n = {kind}.dim %base, %dim : {self.type(kind)}\n"
        )

    def base(self) -> torch.Tensor:
        """A base full of canaries."""
        sizes = [PAGES if size is None else size for size in self.shape]
        return torch.full(sizes, -1.0)


PLACES = {
    "half": Places(
        (None, 3, HEADS, PAGE, HEAD_DIM),
        "0, {}, 0, 0, 0",
        f"%n, 1, {HEADS}, {PAGE}, {HEAD_DIM}",
        lambda base, n: base[:, n],
    ),
    "layer": Places(
        (3, None, HEADS, PAGE, HEAD_DIM),
        "{}, 0, 0, 0, 0",
        f"1, %n, {HEADS}, {PAGE}, {HEAD_DIM}",
        lambda base, n: base[n],
    ),
    "columns": Places(
        (None, HEADS, PAGE, 3 * HEAD_DIM),
        "0, 0, 0, {}",
        f"%n, {HEADS}, {PAGE}, {HEAD_DIM}",
        lambda base, n: base[..., n : n + HEAD_DIM],
    ),
    "heads": Places(
        (None, 3 * HEADS, PAGE, HEAD_DIM),
        "0, {}, 0, 0",
        f"%n, {HEADS}, {PAGE}, {HEAD_DIM}",
        lambda base, n: base[:, n : n + HEADS],
    ),
}
#: Place -> where K and V are, and which branch that has to take.
CALLS = {
    "half": [(0, 1, "16 bytes"), (2, 0, "16 bytes"), (1, 1, "apart")],
    "layer": [(1, 2, "16 bytes"), (2, 0, "16 bytes"), (2, 2, "apart")],
    "columns": [
        (0, 8, "16 bytes"),
        (16, 4, "16 bytes"),
        (2, 10, "by element"),
        (9, 0, "by element"),
        (0, 7, "apart"),
        (8, 4, "apart"),
        (5, 5, "apart"),
    ],
    "heads": [(0, 2, "16 bytes"), (3, 1, "16 bytes"), (1, 2, "apart")],
}


def write(rows: str, rows_type: str, cache: str, cache_type: str, slots: str) -> str:
    """One write at the slots."""
    return (
        f"kv.write at(%slots : {slots}) negative(wrap) out_of_bounds(trap)"
        f" put {rows} : {rows_type} into {cache} : {cache_type} {MAP}"
    )


def on_tensors(places: Places) -> str:
    """Slices taken out and put back in turn."""
    base, body, version = places.type("tensor"), places.measure("tensor"), "%base"
    for rows, number in (("%k", "%a"), ("%v", "%b")):
        where, slots = places.slice(number), "tensor<?xi64>"
        body += (
            f"  {rows}0 = tensor.extract_slice {version}{where} : {base} to {CACHE}\n"
            f"  {rows}1 = {write(rows, ROWS, f'{rows}0', CACHE, slots)}\n"
            f"  {rows}2 = tensor.insert_slice {rows}1 into {version}{where} :"
            f" {CACHE} into {base}\n"
        )
        version = f"{rows}2"
    return (
        f"func.func @main(%base: {base} {{bufferization.writable = true}}, %k: {ROWS},"
        f" %v: {ROWS}, %slots: tensor<?xi64>, %a: index, %b: index) -> {base} {{\n"
        f"{body}  return {version} : {base}\n}}\n"
    )


def on_buffers(places: Places) -> str:
    """The same as a program on buffers has it."""
    base, body = places.type("memref"), places.measure("memref")
    rows_type = ROWS.replace("tensor", "memref")
    for rows, number in (("%k", "%a"), ("%v", "%b")):
        body += (
            f"  {rows}0 = memref.subview %base{places.slice(number)} : {base} to {VIEW}\n"
            f"  {write(rows, rows_type, f'{rows}0', VIEW, 'memref<?xi64>')}\n"
        )
    return (
        "module {\nmodule @kvfuse {\n"
        f"func.func @main(%base: {base}, %k: {rows_type}, %v: {rows_type},"
        f" %slots: memref<?xi64>, %a: index, %b: index) {{\n{body}  return\n}}\n}}\n}}\n"
    )


FORMS = {form.__name__: form for form in (on_tensors, on_buffers)}


def store(cache: np.ndarray, rows: np.ndarray) -> None:
    """One write, row by row."""
    for slot, row in zip(SLOTS, rows, strict=True):
        cache[slot // PAGE, :, slot % PAGE] = row


def new_rows(start: float) -> torch.Tensor:
    """Rows of different numbers."""
    count = len(SLOTS) * HEADS * HEAD_DIM
    return (torch.arange(count) + start).reshape(len(SLOTS), HEADS, HEAD_DIM)


def wrong_call(library: abi.Library, places: Places, a: int, b: int) -> list[str]:
    """Calls the program with K at `a` and V at `b`; what is not as NumPy has it."""
    base, k, v = places.base(), new_rows(1.0), new_rows(1000.0)
    expected = base.numpy().copy()
    store(places.cache(expected, a), k.numpy())
    store(places.cache(expected, b), v.numpy())
    library.call("main", base, k, v, torch.tensor(SLOTS), a, b)
    count = np.count_nonzero(base.numpy() != expected)
    return [f"at {a} and {b}: {count} elements differ"] if count else []


def run_calls(path: pathlib.Path, name: str, count: bool) -> list[str]:
    """What is wrong with the bytes, and with the branches if they are counted."""
    library = abi.Library(path)
    counts = BranchCounts(library, path) if count else None
    wrong = []
    for a, b, branch in CALLS[name]:
        wrong += wrong_call(library, PLACES[name], a, b)
        taken = counts.take() if counts else {branch: 1}
        if taken != {branch: 1}:
            wrong.append(f"at {a} and {b}: {taken} ran instead of {branch}")
    return wrong


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PLACES)
def test_branches(compiler, name, form):
    """Each call takes the branch that it has to, and all of its bytes are right."""
    path = compiler.compile(FORMS[form](PLACES[name]), *OPTIONS, COUNT)
    assert not in_child(lambda: run_calls(path, name, count=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PLACES)
def test_chain(compiler, name, form):
    """The same one after the other in any case."""
    path = compiler.compile(FORMS[form](PLACES[name]), *OPTIONS, "--fuse=off")
    assert not in_child(lambda: run_calls(path, name, count=False))
