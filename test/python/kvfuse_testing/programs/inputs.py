# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of a call in memory: buffers, and strided views of them."""

import dataclasses
import math
import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .. import cases, casts, cells
from . import oracle
from .dtypes import ARRAYS, FLOATS, canonical
from .function import Function
from .slots import choose_sizes, choose_tokens
from .values import State

#: Elements before and after each view.
GUARD = 16


def random_cells(rng: random.Random, dtype: str, count: int) -> np.ndarray:
    """`count` cells of `dtype`, all bit patterns equally likely."""
    array = ARRAYS[dtype]
    return np.frombuffer(rng.randbytes(count * array.itemsize), array).copy()


def row_cells(rng: random.Random, dtype: str, count: int) -> np.ndarray:
    """Three in four of moderate size, one in four any bit pattern."""
    made = random_cells(rng, dtype, count)
    if dtype not in FLOATS:
        return made
    numbers = random_cells(rng, "i32", count)
    wide = numbers.astype(np.float32) * np.float32(2.0**-22)
    with np.errstate(all="ignore"):
        moderate = wide.astype(casts.NUMPY_TYPES[FLOATS[dtype]]).view(ARRAYS[dtype])
    return np.where(numbers % 4 == 0, made, moderate)


def cache_cells(
    rng: random.Random, dtype: str, count: int, rounded: bool
) -> np.ndarray:
    """What a cache holds before; no NaN where NaNs compare equal (SC6)."""
    made = random_cells(rng, dtype, count)
    if rounded and dtype in FLOATS:
        made[cells.nan_mask(FLOATS[dtype], made)] = 0x15
    return made


def place(
    rng: random.Random, sizes: Sequence[int], reads: bool
) -> tuple[int, int, tuple[int, ...]]:
    """Elements of a buffer, and offset and strides of a view of `sizes` in it;
    what is only read may repeat itself."""
    dims = list(range(len(sizes)))
    kinds = ["dense", "padded", "permuted", "stepped", "reversed"]
    kind = rng.choice([*kinds, "repeated"] if reads else kinds)
    outer = list(sizes)
    if kind == "padded":
        outer = [size + rng.randrange(3) for size in sizes]
    if kind == "stepped" and dims:
        outer[-1] *= 2
    if kind == "permuted":
        rng.shuffle(dims)
    strides = list(cases.dense_strides(outer, dims))
    offset = GUARD
    if dims and kind == "stepped":
        strides[-1] = 2
    if dims and kind == "repeated":
        strides[rng.choice(dims)] = 0
    if dims and kind == "reversed" and math.prod(sizes):
        turned = rng.choice(dims)
        offset += (sizes[turned] - 1) * strides[turned]
        strides[turned] = -strides[turned]
    return math.prod(outer) + 2 * GUARD, offset, tuple(strides)


@dataclasses.dataclass
class Input:
    """Buffers, and a view of one for each argument of a program."""

    program: Function
    symbols: dict[str, int]
    flags: dict[str, bool] = dataclasses.field(default_factory=dict)
    buffers: list[np.ndarray] = dataclasses.field(default_factory=list)
    views: dict[str, cases.View] = dataclasses.field(default_factory=dict)

    def view(self, name: str, buffers: Sequence[np.ndarray]) -> np.ndarray:
        """Argument `name` as a view of its buffer in `buffers`."""
        view = self.views[name]
        buffer = buffers[view.buffer]
        strides = [stride * buffer.itemsize for stride in view.strides]
        return np.lib.stride_tricks.as_strided(
            buffer[view.offset :], view.sizes, strides
        )

    def run(self, first: int = 0) -> State:
        """Runs the program; tokens are stored from `first` on."""
        values = {n: self.view(n, self.buffers) for n in self.program.arguments}
        return oracle.run(self.program, self.symbols, values, self.flags, first)

    def after(self, state: State, without: set[str]) -> list[np.ndarray]:
        """The buffers when the program has run, but for the caches `without`."""
        buffers = [buffer.copy() for buffer in self.buffers]
        for name, versions in self.program.versions.items():
            if name not in without:
                self.view(name, buffers)[...] = state.values[versions[-1]]
        return buffers

    def named(self, state: State) -> list[np.ndarray]:
        """Per buffer, which elements a valid token of a write names."""
        buffers = [np.zeros(buffer.shape, bool) for buffer in self.buffers]
        for name, versions in self.program.versions.items():
            self.view(name, buffers)[...] |= state.named_in(versions[-1])
        return buffers

    def comparable(self, buffers: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The buffers as they are compared (SC6)."""
        made = list(buffers)
        for name, view in self.views.items():
            dtype = self.program.types[name].dtype
            rounded = self.program.is_rounded(name)
            made[view.buffer] = canonical(dtype, made[view.buffer], rounded)
        return made


class InputMaker:
    """Puts the arguments of a program into memory."""

    def __init__(
        self, rng: random.Random, program: Function, symbols: dict[str, int]
    ) -> None:
        self.rng = rng
        flags = {flag: rng.random() < 0.5 for flag in program.flags}
        self.made = Input(program, symbols, flags)

    def sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of argument `name` in this call."""
        return self.made.program.types[name].sizes(self.made.symbols)

    def dtype(self, name: str) -> str:
        """The element type of argument `name`."""
        return self.made.program.types[name].dtype

    def alone(self, name: str, fill: Callable[[int], np.ndarray], reads: bool) -> None:
        """Puts argument `name` into a buffer of its own."""
        sizes = self.sizes(name)
        count, offset, strides = place(self.rng, sizes, reads)
        number = len(self.made.buffers)
        self.made.buffers.append(fill(count))
        self.made.views[name] = cases.View(number, offset, sizes, strides)

    def tokens(self, name: str, values: np.ndarray) -> None:
        """Puts index values or a mask into memory, among others that are wrong."""
        count, offset, strides = place(self.rng, values.shape, False)
        number = len(self.made.buffers)
        self.made.buffers.append(np.full(count, cases.NO_SLOT, values.dtype))
        self.made.views[name] = cases.View(number, offset, values.shape, strides)
        self.made.view(name, self.made.buffers)[...] = values

    def cache(self, name: str) -> None:
        """Puts a cache into a buffer of its own."""
        dtype, rounded = self.dtype(name), self.made.program.is_rounded(name)
        self.alone(
            name, lambda count: cache_cells(self.rng, dtype, count, rounded), False
        )

    def pool(self, names: Sequence[str]) -> None:
        """Caches of one shape as slices [:, i] of one buffer."""
        sizes = self.sizes(names[0])
        inner = math.prod(sizes[1:])
        dtype = self.dtype(names[0])
        rounded = any(map(self.made.program.is_rounded, names))
        count = inner * sizes[0] * len(names) + 2 * GUARD
        number = len(self.made.buffers)
        self.made.buffers.append(cache_cells(self.rng, dtype, count, rounded))
        step, *strides = cases.dense_strides(sizes, range(len(sizes)))
        for i, name in enumerate(names):
            view = (GUARD + i * inner, sizes, (step * len(names), *strides))
            self.made.views[name] = cases.View(number, *view)

    def caches(self) -> None:
        """Puts all caches into memory; some that are alike share a buffer."""
        alike: dict[tuple, list[str]] = {}
        for name in self.made.program.versions:
            alone = name in self.made.program.unused or self.rng.random() < 0.3
            key = (name,) if alone else (self.dtype(name), self.sizes(name))
            alike.setdefault(key, []).append(name)
        for names in alike.values():
            if len(names) > 1:
                self.pool(names)
            else:
                self.cache(names[0])

    def make(self, tokens: Mapping[str, np.ndarray]) -> Input:
        """The input with these index values and masks."""
        self.caches()
        for name in self.made.program.arguments:
            if name in tokens:
                self.tokens(name, tokens[name])
            elif name not in self.made.program.versions:
                dtype = self.dtype(name)
                self.alone(
                    name,
                    lambda count, dtype=dtype: row_cells(self.rng, dtype, count),
                    True,
                )
        return self.made


def make_input(program: Function, seed: str, count: int, kind: str) -> Input | None:
    """An input with `count` tokens, or fewer where there are not so many places.

    kind is `distinct`: tokens have places of their own and the call succeeds;
    `duplicate`: they may share places; `trap`: the call fails (SX5). None if the
    program has no such input.
    """
    rng = random.Random(seed)
    symbols = choose_sizes(rng, program)
    tokens = choose_tokens(rng, program, symbols, count, kind)
    if tokens is None:
        return None
    made = InputMaker(rng, program, symbols).make(tokens)
    # The write that would trap may be in the branch not taken.
    return made if kind != "trap" or made.run().trapped else None
