# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes with access clauses: groups of elements, and what is left of a row.

Rows start at multiples of 16 elements, so every access up to 16 is allowed.
Between them lie canaries. NumPy stores every element by itself.
"""

import dataclasses
import itertools
from collections.abc import Callable

import numpy
import pytest
import torch

from kvfuse_testing import abi, casts, cells
from kvfuse_testing.casts import Cast

ACCESSES = (2, 4, 8, 16)
#: With and without a tail.
EXTENTS = (8, 46, 80, 100)
HEADS, PAGE, PAGES = 3, 4, 5
#: -3 wraps in every layout; the last one is outside all caches, but for the first
#: elements of its row in "mixed".
SLOTS = (3, 12, 0, 8, -3, 1)
OUTSIDE = 20

BF16, E4M3 = Cast("bf16", "bf16"), Cast("bf16", "e4m3fn", saturating=True)
TYPES = (
    BF16,
    Cast("u8", "u8"),
    E4M3,
    Cast("bf16", "e4m3fn"),
    Cast("f32", "bf16"),
    Cast("f16", "e5m2"),
)


def padded(extent: int) -> int:
    """The distance of rows: the next multiple of 16, and 16 more."""
    return (extent + 15) // 16 * 16 + 16


@dataclasses.dataclass(frozen=True)
class Layout:
    """`shape` is the cache's for rows of an extent; `place` takes (slot, *row) to
    coordinates that may be negative."""

    map: str
    shape: Callable[[int], tuple[int, ...]]
    place: Callable[[int], Callable[..., tuple[int, ...]]]
    heads: tuple[int, ...] = ()
    box: bool = False
    outside: int = OUTSIDE


LAYOUTS = {
    "hnd": Layout(
        "(t, s, h, d) -> (s floordiv 4, h, s mod 4, d)",
        lambda d: (PAGES, HEADS, PAGE, d),
        lambda _: lambda s, h, d: (s // PAGE, h, s % PAGE, d),
        heads=(HEADS,),
    ),
    "nhd": Layout(
        "(t, s, h, d) -> (s floordiv 4, s mod 4, h, d)",
        lambda d: (PAGES, PAGE, HEADS, d),
        lambda _: lambda s, h, d: (s // PAGE, s % PAGE, h, d),
        heads=(HEADS,),
    ),
    "flat": Layout(
        "(t, s, d) -> (s, d)",
        lambda d: (PAGE * PAGES, d),
        lambda _: lambda s, d: (s, d),
    ),
    "box": Layout(
        "(t, s, d) -> (s, d + 16)",
        lambda d: (PAGE * PAGES, d + 20),
        lambda _: lambda s, d: (s, d + 16),
        box=True,
    ),
    # The cache ends before the rows do.
    "cut": Layout(
        "(t, s, d) -> (s, d + 16)",
        lambda d: (PAGE * PAGES, d + 13),
        lambda _: lambda s, d: (s, d + 16),
        box=True,
    ),
    # Rows side by side; what wraps is not aligned, since the cache ends with a
    # row of 5.
    "mixed": Layout(
        "(t, s, d) -> (s * STEP + d)",
        lambda d: (14 * padded(d) + 5,),
        lambda extent: lambda s, d: (s * padded(extent) + d,),
        box=True,
        outside=14,
    ),
}


@dataclasses.dataclass(frozen=True)
class Program:
    """One write of rows of `extent` elements, as a function per access."""

    types: Cast
    layout: Layout
    extent: int
    is_static: bool = False
    policy: str = "skip"
    scale: float | None = None

    def memref(self, dtype: str, rank: int) -> str:
        """A memref type of unit stride, static at most in the last dimension."""
        last = str(self.extent) if self.is_static and not self.layout.box else "?"
        sizes = "x".join(["?"] * (rank - 1) + [last])
        strides = ", ".join(["?"] * (rank - 1) + ["1"])
        element = casts.MLIR_TYPES.get(dtype, "i8")
        return f"memref<{sizes}x{element}, strided<[{strides}], offset: ?>>"

    def is_copy(self) -> bool:
        """Are elements stored bit for bit?"""
        return self.types.source == self.types.result and self.scale is None

    def region(self) -> str:
        """The region that converts an element, none for a copy."""
        source = casts.MLIR_TYPES.get(self.types.source)
        result = casts.MLIR_TYPES.get(self.types.result)
        if self.is_copy():
            return ""
        mode = "saturating " if self.types.saturating else ""
        if source == result:
            body = (
                f"%k = arith.constant {self.scale} : {source}\n"
                f"%y = arith.mulf %x, %k : {source}"
            )
        elif self.scale is None:
            body = f"%y = kv.cast %x {mode}: {source} to {result}"
        else:
            body = (
                f"%w = arith.extf %x : {source} to f32\n"
                "%z = arith.mulf %w, %scale : f32\n"
                f"%y = kv.cast %z {mode}: f32 to {result}"
            )
        return f"{{\n^bb0(%x: {source}):\n{body}\nkv.yield %y : {result}\n}}"

    def function(self, access: int) -> str:
        """The function that writes with `access`."""
        values = self.memref(self.types.source, 2 + len(self.layout.heads))
        cache = self.memref(self.types.result, len(self.layout.shape(0)))
        map_ = self.layout.map.replace("STEP", str(padded(self.extent)))
        box = "box " if self.layout.box else ""
        return (
            f"func.func @main{access}(%s: memref<?xi64>, %v: {values}, %c: {cache}, "
            "%scale: f32) {\n"
            "kv.write at(%s : memref<?xi64>) negative(wrap) "
            f"out_of_bounds({self.policy})\n"
            f"put %v : {values} into %c : {cache} {box}access({access}) "
            f"map(affine_map<{map_}>) {self.region()}\nreturn\n}}\n"
        )

    def module(self) -> str:
        """The module with a function for each access."""
        functions = "".join(map(self.function, ACCESSES))
        return f"module {{\nmodule @kvfuse {{\n{functions}}}\n}}\n"

    def convert(self, values: numpy.ndarray) -> numpy.ndarray:
        """What is stored for cells of the source type."""
        cast = self.types
        if self.scale is not None:
            wide = values.view(casts.NUMPY_TYPES[cast.source]).astype(numpy.float32)
            with numpy.errstate(all="ignore"):
                values = (wide * numpy.float32(self.scale)).view(numpy.uint32)
            cast = dataclasses.replace(cast, source="f32")
        elif self.is_copy():
            return values
        return casts.by_ml_dtypes(cast, values)

    def canonical(self, left: numpy.ndarray) -> numpy.ndarray:
        """Cells of the cache; copies keep the bits of a NaN, casts need not."""
        return left if self.is_copy() else cells.canonical(self.types.result, left)


def storage(dtype: str, count: int, seed: int) -> torch.Tensor:
    """Cells of any bits."""
    width = cells.WIDTHS[dtype]
    made = numpy.random.default_rng(seed).bytes(count * width)
    # A clone is aligned to 64 bytes.
    return torch.from_numpy(numpy.frombuffer(bytearray(made), f"i{width}")).clone()


def view(memory: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """A view whose rows lie apart, after 32 cells of canaries."""
    strides = [1]
    for size in (padded(shape[-1]), *reversed(shape[1:-1])):
        strides.insert(0, strides[0] * size)
    return memory.as_strided(shape, strides[-len(shape) :], 32)


def count(shape: tuple[int, ...]) -> int:
    """Cells that `view` needs, and canaries behind them."""
    return int(numpy.prod(shape[:-1], dtype=int)) * padded(shape[-1]) + 64


def store(program: Program, slots, values, cache) -> None:
    """Does the write: negative coordinates wrap, what is outside is left out."""
    place = program.layout.place(program.extent)
    converted = program.convert(values)
    for token, slot in enumerate(slots):
        for row in itertools.product(*map(range, values.shape[1:])):
            where = tuple(
                c + n if c < 0 else c
                for c, n in zip(place(slot, *row), cache.shape, strict=True)
            )
            if all(0 <= c < n for c, n in zip(where, cache.shape, strict=True)):
                cache[where] = converted[(token, *row)]


def as_cells(dtype: str, tensor: torch.Tensor) -> numpy.ndarray:
    """The same memory as unsigned cells."""
    return tensor.numpy().view(cells.cell_type(dtype))


@dataclasses.dataclass
class Run:
    """The memory of one call, and what NumPy makes of it."""

    program: Program
    slots: tuple[int, ...]
    seed: int = 1

    def __post_init__(self) -> None:
        source, result = self.program.types.source, self.program.types.result
        layout, extent = self.program.layout, self.program.extent
        shape = (len(self.slots), *layout.heads, extent)
        self.values = view(storage(source, count(shape), self.seed), shape)
        shape = layout.shape(extent)
        self.memory = storage(result, count(shape), self.seed + 100)
        self.cache = view(self.memory, shape)
        self.before = as_cells(result, self.memory.clone())
        expected = self.memory.clone()
        store(
            self.program,
            self.slots,
            as_cells(source, self.values.contiguous()),
            as_cells(result, view(expected, shape)),
        )
        self.expected = as_cells(result, expected)

    def call(self, library: abi.Library, access: int) -> numpy.ndarray:
        """Runs the function of `access`; returns the memory it leaves."""
        self.memory.copy_(torch.from_numpy(self.before.view(self.memory.numpy().dtype)))
        scale = 1.0 if self.program.scale is None else self.program.scale
        library.call(
            f"main{access}", torch.tensor(self.slots), self.values, self.cache, scale
        )
        return as_cells(self.program.types.result, self.memory)


def load(compiler, program: Program) -> abi.Library:
    """Compiles a program for the CPU."""
    return abi.Library(
        compiler.compile(program.module(), "--target=cpu", "--emit=shared", "-O0")
    )


def check(compiler, program: Program, slots: tuple[int, ...]) -> None:
    """All bytes, for each access."""
    library, run = load(compiler, program), Run(program, slots)
    expected = program.canonical(run.expected)
    assert not numpy.array_equal(run.before, run.expected)
    for access in ACCESSES:
        left = program.canonical(run.call(library, access))
        assert numpy.array_equal(left, expected), access


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("types", TYPES, ids=str)
def test_types(compiler, types, extent):
    """Rows of static extent, which may be whole groups, of any types."""
    program = Program(types, LAYOUTS["hnd"], extent, is_static=True)
    check(compiler, program, (*SLOTS, OUTSIDE))


@pytest.mark.parametrize("types", [BF16, E4M3], ids=str)
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(compiler, name, types):
    """Rows of dynamic extent; rows, groups and elements outside are skipped."""
    layout = LAYOUTS[name]
    for extent in EXTENTS:
        check(compiler, Program(types, layout, extent), (*SLOTS, layout.outside))


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "cut"])
def test_trap(compiler, name):
    """Nothing is outside, then one row is: that is an error, and the cells that
    were written are right."""
    layout = LAYOUTS[name]
    program = Program(BF16, layout, 46, policy="trap")
    check(compiler, program, SLOTS)
    library, run = load(compiler, program), Run(program, (*SLOTS, layout.outside))
    for access in ACCESSES:
        with pytest.raises(abi.KernelError, match="SX5: index out of bounds"):
            run.call(library, access)
        left = as_cells("bf16", run.memory)
        assert numpy.all((left == run.before) | (left == run.expected))


def test_trap_cut(compiler):
    """The first elements of a group are inside, the last ones are not."""
    program = Program(BF16, LAYOUTS["cut"], 46, policy="trap")
    library, run = load(compiler, program), Run(program, SLOTS)
    for access in ACCESSES:
        with pytest.raises(abi.KernelError, match="SX5: index out of bounds"):
            run.call(library, access)


@pytest.mark.parametrize("types", [E4M3, BF16], ids=str)
def test_scale(compiler, types):
    """A scalar from outside, or a constant of a small type, scales each element."""
    check(compiler, Program(types, LAYOUTS["nhd"], 46, scale=0.3125), SLOTS)


MEMREF = "memref<?x46xbf16, strided<[?, 1], offset: ?>>"


def pair_module(clause: str, accesses: tuple[int, int]) -> str:
    """Two flat caches in one write."""
    puts = "".join(
        f"put %v{i} : {MEMREF} into %c{i} : {MEMREF} access({access}) "
        "map(affine_map<(t, s, d) -> (s, d)>)\n"
        for i, access in enumerate(accesses)
    )
    return (
        "module {\nmodule @kvfuse {\n"
        f"func.func @main(%s: memref<?xi64>, %v0: {MEMREF}, %v1: {MEMREF}, "
        f"%c0: {MEMREF}, %c1: {MEMREF}) {{\n"
        f"kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) {clause}\n"
        f"{puts}return\n}}\n}}\n}}\n"
    )


@pytest.mark.parametrize("clause", ["disjoint", ""])
@pytest.mark.parametrize("accesses", [(8, 2), (1, 16)])
def test_pair(compiler, clause, accesses):
    """Each destination has its own access, in one launch or in two."""
    module = pair_module(clause, accesses)
    library = abi.Library(
        compiler.compile(module, "--target=cpu", "--emit=shared", "-O0")
    )
    first, second = runs = [
        Run(Program(BF16, LAYOUTS["flat"], 46), SLOTS, seed) for seed in (1, 2)
    ]
    library.call(
        "main", torch.tensor(SLOTS), first.values, second.values, first.cache,
        second.cache,
    )  # fmt: skip
    for run in runs:
        assert numpy.array_equal(as_cells("bf16", run.memory), run.expected)


def test_remainders(compiler):
    """An operation that is done for each element by itself."""
    memref = "memref<?x6xi64, strided<[8, 1]>>"
    module = (
        "module {\nmodule @kvfuse {\n"
        f"func.func @main(%s: memref<?xi64>, %v: {memref}, %c: {memref}, %b: index) {{\n"
        "%bias = arith.index_cast %b : index to i64\n"
        "kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)\n"
        f"put %v : {memref} into %c : {memref} access(4) "
        "map(affine_map<(t, s, d) -> (s, d)>) {\n^bb0(%x: i64):\n"
        "%y = kv.apply affine_map<(x) -> (x mod 5)>(%x) : i64\n"
        "%z = arith.addi %y, %bias : i64\n"
        "kv.yield %z : i64\n}\nreturn\n}\n}\n}\n"
    )
    library = abi.Library(
        compiler.compile(module, "--target=cpu", "--emit=shared", "-O0")
    )
    values, cache = torch.full((3, 8), 55), torch.full((5, 8), 77)
    values[:, :6] = torch.arange(-9, 9).reshape(3, 6)
    expected = cache.clone()
    expected[[4, 0, 2], :6] = values[:, :6] % 5 + 100
    library.call("main", torch.tensor([4, 0, -3]), values[:, :6], cache[:, :6], 100)
    assert torch.equal(cache, expected)
