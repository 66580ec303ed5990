# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strided views by their numbers: what they touch, and how they are passed."""

import dataclasses
import math

import numpy

from . import abi

#: Where views lie, unless there is memory behind them.
BASE = 1 << 40
#: Types by bytes of an element.
TYPES = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


@dataclasses.dataclass(frozen=True)
class View:
    """A strided view; `start` counts bytes from BASE, all else elements."""

    start: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    bytes: int = 2

    def addresses(self) -> set[int]:
        """Of every byte of every element."""
        steps = [
            numpy.arange(n) * s * self.bytes for n, s in zip(self.sizes, self.strides)
        ]
        grid = numpy.ix_(*steps, numpy.arange(self.bytes))
        return set((sum(grid) + self.start).ravel().tolist())

    def descriptor(self, offset: int):
        """With `offset` elements of the start in the offset."""
        pointer = BASE + self.start - offset * self.bytes
        made = abi.descriptor_type(len(self.sizes))(pointer, pointer, offset)
        made.sizes[:], made.strides[:] = self.sizes, self.strides
        return made

    def kind(self) -> str:
        """The part of a function's name that says what it takes."""
        return f"{len(self.sizes)}{TYPES[self.bytes]}"


def cut(parent: View, *parts: int | slice) -> View:
    """Indexing with integers and slices, as on an array."""
    start, sizes, strides = parent.start, [], []
    for part, size, stride in zip(parts, parent.sizes, parent.strides, strict=True):
        if isinstance(part, int):
            start += part * stride * parent.bytes
            continue
        first, stop, step = part.indices(size)
        start += first * stride * parent.bytes
        sizes.append(len(range(first, stop, step)))
        strides.append(stride * step)
    return View(start, tuple(sizes), tuple(strides), parent.bytes)


def dense(*sizes: int, start: int = 0, bytes: int = 2, pad: int = 0) -> View:
    """A buffer, with `pad` elements behind each page, its first dimension."""
    strides = [math.prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
    strides[0] += pad
    return View(start, sizes, tuple(strides), bytes)


def memref(rank: int, type_: str) -> str:
    """The type of a view of which all is dynamic."""
    return (
        f"memref<{'?x' * rank}{type_}, strided<[{', '.join('?' * rank)}], offset: ?>>"
    )
