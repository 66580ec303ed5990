# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches that are slices of one pool, fused and as a chain.

A layout says where the cache of a layer and member lies in the pool, as a NumPy
index; NumPy computes the expected bytes through the same index.
"""

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch

from kvfuse_testing import abi

HEADS, PAGE, HEAD_DIM, PAGES, TOKENS = 2, 4, 8, 5, 6
SLOTS = [3, 19, 0, -1, 4, 13]
LAYERS = 3
MEMBERS = "kv"
FULL = slice(None)
CACHE = "tensor<?x2x4x8xf32>"
ROWS = "tensor<?x2x8xf32>"
WRITE = (
    "kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)"
    f" put {{rows}} : {ROWS} into {{cache}} : {CACHE}"
    " map(affine_map<(t, s, h, d) -> (s floordiv 4, h, s mod 4, d)>)"
)


@dataclasses.dataclass(frozen=True)
class Layout:
    """`shape` has None for the pages; `index` gives the place of a cache."""

    shape: tuple[int | None, ...]
    index: Callable[[int, int], tuple]
    layers: int = 1

    def tensor(self) -> str:
        """The type of the pool."""
        return f"tensor<{'x'.join('?' if n is None else str(n) for n in self.shape)}xf32>"


def columns(member: int) -> slice:
    """The columns of a member in rows that hold both."""
    return slice(member * HEAD_DIM, (member + 1) * HEAD_DIM)


ROW = (HEADS, PAGE, HEAD_DIM)
WIDE = (HEADS, PAGE, 2 * HEAD_DIM)
LAYOUTS = {
    "B2HPD": Layout((None, 2, *ROW), lambda l, m: (FULL, m)),
    "2BHPD": Layout((2, None, *ROW), lambda l, m: (m,)),
    "BHP2D": Layout((None, *WIDE), lambda l, m: (..., columns(m))),
    "L2BHPD": Layout((LAYERS, 2, None, *ROW), lambda l, m: (l, m), LAYERS),
    "BL2HPD": Layout((None, LAYERS, 2, *ROW), lambda l, m: (FULL, l, m), LAYERS),
    "2LBHPD": Layout((2 * LAYERS, None, *ROW), lambda l, m: (2 * l + m,), LAYERS),
    "LBHP2D": Layout((LAYERS, None, *WIDE), lambda l, m: (l, ..., columns(m)), LAYERS),
}


def slice_text(layout: Layout, index: tuple) -> str:
    """`index` as offsets, sizes and strides; %n is the number of pages."""
    missing = len(layout.shape) - len(index) + (... in index)
    filled = []
    for item in index if ... in index else (*index, ...):
        filled += [FULL] * missing if item is ... else [item]
    offsets, sizes = [], []
    for item, size in zip(filled, layout.shape, strict=True):
        start = item if isinstance(item, int) else item.start or 0
        offsets.append(str(start))
        if isinstance(item, int):
            sizes.append("1")
        elif item == FULL:
            sizes.append("%n" if size is None else str(size))
        else:
            sizes.append(str(item.stop - start))
    ones = ", ".join(["1"] * len(filled))
    return f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{ones}]"


class Program:
    """Collects the lines of a function that takes a pool through its writes."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.lines: list[str] = []
        self.pool = "%pool"
        self.caches = list(itertools.product(range(layout.layers), range(len(MEMBERS))))

    def emit(self, line: str) -> None:
        """Adds a line."""
        self.lines.append("  " + line)

    def take_out(self, layer: int, member: int, name: str = "old") -> str:
        """A slice of the newest version."""
        value = f"%{MEMBERS[member]}{layer}{name}"
        where = slice_text(self.layout, self.layout.index(layer, member))
        self.emit(
            f"{value} = tensor.extract_slice {self.pool}{where}"
            f" : {self.layout.tensor()} to {CACHE}"
        )
        return value

    def write(self, layer: int, member: int, cache: str) -> str:
        """Writes the rows of a member into `cache`."""
        name = f"{MEMBERS[member]}{layer}"
        self.emit(f"%{name}new = " + WRITE.format(rows=f"%{name}", cache=cache))
        return f"%{name}new"

    def put_back(self, layer: int, member: int, cache: str) -> None:
        """Makes the next version of the pool."""
        where = slice_text(self.layout, self.layout.index(layer, member))
        version = f"%p{MEMBERS[member]}{layer}"
        self.emit(
            f"{version} = tensor.insert_slice {cache} into {self.pool}{where}"
            f" : {CACHE} into {self.layout.tensor()}"
        )
        self.pool = version

    def read(self, layer: int, member: int, label: str, out: str) -> str:
        """Copies a cache, negated, to `out`."""
        cache = self.take_out(layer, member, label)
        self.emit(f"{cache}n = arith.negf {cache} : {CACHE}")
        self.emit(
            f"{out}{label} = kv.write at(%pages : tensor<?xi64>) negative(wrap)"
            f" out_of_bounds(trap) put {cache}n : {CACHE} into {out} : {CACHE}"
            " map(affine_map<(t, s, h, p, d) -> (s, h, p, d)>)"
        )
        return f"{out}{label}"

    def text(self, outs: dict[str, str] | None = None) -> str:
        """The module; `outs` are further caches and what is left of them."""
        outs = outs or {}
        pages = self.layout.shape.index(None)
        pool = self.layout.tensor()
        arguments = [f"%pool: {pool} {{bufferization.writable = true}}"]
        arguments += [f"{out}: {CACHE} {{bufferization.writable = true}}" for out in outs]
        arguments += [f"%{MEMBERS[m]}{l}: {ROWS}" for l, m in self.caches]
        arguments += ["%slots: tensor<?xi64>", "%pages: tensor<?xi64>"]
        results = ", ".join([self.pool, *outs.values()])
        types = ", ".join([pool] + [CACHE] * len(outs))
        return "\n".join(
            [
                f"func.func @main({', '.join(arguments)}) -> ({types}) {{",
                f"  %c = arith.constant {pages} : index",
                f"  %n = tensor.dim %pool, %c : {pool}",
                *self.lines,
                f"  return {results} : {types}",
                "}",
            ]
        )


def in_sequence(program: Program) -> None:
    """Slice, write, insertion, slice of the result, and so on."""
    for layer, member in program.caches:
        cache = program.take_out(layer, member)
        program.put_back(layer, member, program.write(layer, member, cache))


def at_once(program: Program) -> None:
    """All slices are taken out of the first version, and put back last."""
    olds = [program.take_out(*cache) for cache in program.caches]
    news = [
        program.write(*cache, old)
        for cache, old in zip(program.caches, olds, strict=True)
    ]
    for cache, new in zip(program.caches, news, strict=True):
        program.put_back(*cache, new)


def by_coordinates(program: Program) -> None:
    """Without slices: layer, member and first column are in the map."""
    for layer, member in program.caches:
        index = program.layout.index(layer, member)
        name = f"{MEMBERS[member]}{layer}"
        pool = program.layout.tensor()
        program.emit(
            f"%p{name} = kv.write at(%slots : tensor<?xi64>) negative(wrap)"
            f" out_of_bounds(trap) put %{name} : {ROWS} into {program.pool} : {pool}"
            f" box map(affine_map<(t, s, h, d) -> ({coordinates(program.layout, index)})>)"
        )
        program.pool = f"%p{name}"


def coordinates(layout: Layout, index: tuple) -> str:
    """The coordinates of a row in the pool."""
    row = iter(["s floordiv 4", "h", "s mod 4", "d"])
    places = [str(i) if isinstance(i, int) else i for i in index if i is not ...]
    made = [item if isinstance(item, str) else next(row) for item in places]
    if places and isinstance(places[-1], slice) and places[-1] != FULL:
        made.pop()
        return ", ".join(
            [*made, "s floordiv 4", "h", "s mod 4", f"d + {places[-1].start}"]
        )
    return ", ".join([*made, *row])


ORDERS = {"sequence": in_sequence, "at-once": at_once, "coordinates": by_coordinates}


def make_inputs(layout: Layout) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """A pool and the rows of each layer and member."""
    generator = torch.Generator().manual_seed(7)
    shape = [PAGES if size is None else size for size in layout.shape]
    rows = [
        torch.randn(TOKENS, HEADS, HEAD_DIM, generator=generator)
        for _ in range(layout.layers * len(MEMBERS))
    ]
    return torch.randn(shape, generator=generator), rows


def store(pool: np.ndarray, index: tuple, rows: torch.Tensor) -> None:
    """One write, token by token."""
    cache = pool[index]
    for slot, row in zip(SLOTS, rows.numpy(), strict=True):
        slot %= PAGES * PAGE
        cache[slot // PAGE, :, slot % PAGE] = row


def call(compiler, text: str, fuse: str, *tensors: torch.Tensor) -> None:
    """Compiles for the CPU and calls, slots and page numbers last."""
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    library = abi.Library(compiler.compile(text, *options))
    slots = torch.tensor(SLOTS)
    library.call("main", *tensors, slots, torch.arange(PAGES))


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_bytes(compiler, name, order, fuse):
    layout = LAYOUTS[name]
    program = Program(layout)
    ORDERS[order](program)
    pool, rows = make_inputs(layout)
    expected = pool.numpy().copy()
    for (layer, member), values in zip(program.caches, rows, strict=True):
        store(expected, layout.index(layer, member), values)
    call(compiler, program.text(), fuse, pool, *rows)
    assert pool.numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", LAYOUTS)
def test_one_launch_and_no_copy(compiler, name):
    """However slices are ordered, they are written in place, by one kernel."""
    for order in ORDERS.values():
        program = Program(LAYOUTS[name])
        order(program)
        output = compiler.compile(program.text(), "--emit=gpu", "--no-versioning")
        text = output.read_text()
        assert "memref.alloc" not in text
        assert "memref.copy" not in text
        # Nothing separates the layers: one launch writes all of them.
        assert len(compiler.launches(output)) == 1


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("name", ["B2HPD", "L2BHPD", "LBHP2D"])
def test_readers_between(compiler, name, fuse):
    """K is read before its write, between K and V, and after both."""
    layout = LAYOUTS[name]
    program = Program(layout)
    outs = {f"%out{i}": f"%out{i}" for i in range(3)}
    pool, rows = make_inputs(layout)
    expected = pool.numpy().copy()
    copies = []

    def read(layer: int, out: int) -> None:
        outs[f"%out{out}"] = program.read(layer, 0, f"r{out}", f"%out{out}")
        copies.append(-expected[layout.index(layer, 0)])

    read(0, 0)
    for (layer, member), values in zip(program.caches, rows, strict=True):
        cache = program.take_out(layer, member)
        program.put_back(layer, member, program.write(layer, member, cache))
        store(expected, layout.index(layer, member), values)
        if (layer, member) == (0, 0):
            read(0, 1)
    read(0, 2)
    made = [torch.zeros(PAGES, *ROW) for _ in outs]
    call(compiler, program.text(outs), fuse, pool, *made, *rows)
    assert pool.numpy().tobytes() == expected.tobytes()
    for array, copy in zip(made, copies, strict=True):
        assert array.numpy().tobytes() == copy.tobytes()
