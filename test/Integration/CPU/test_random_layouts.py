# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random strides, offsets, sizes and types of one to three writes.

Dimensions lie in any order, with gaps of any size; strides and offsets are multiples
of what the seed says, so that all widths of access run. Every byte of every
allocation is compared.
"""

import random
from collections.abc import Sequence

import pytest
import torch

from kvfuse_testing import strided
from kvfuse_testing.programs import in_child
from kvfuse_testing.strided import Write

BF16, F32 = torch.bfloat16, torch.float32
#: Types of rows -> types of caches.
TYPES = {
    BF16: [BF16, torch.float8_e4m3fn, torch.float8_e5m2],
    F32: [F32, BF16, torch.float8_e4m3fn],
}
OPTIONS = [(), (), (), ("--no-versioning",), ("--unit-stride-only",), ("--fuse=off",)]
#: Programs of a test, and tests.
PROGRAMS, TESTS, LONG_TESTS = 8, 4, 60


class Chooser:
    """Makes the tensors of one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        #: What strides and offsets are multiples of, most of the time.
        self.multiple = self.rng.choice([1, 2, 4, 8, 16])

    def strides(self, sizes: Sequence[int]) -> list[int]:
        """Strides under which no two elements share a place."""
        order = list(range(len(sizes) - 1))
        if self.rng.random() < 0.4:
            self.rng.shuffle(order)
        strides = [0] * len(sizes)
        strides[-1] = 1 if self.rng.random() < 0.9 else self.rng.randint(2, 4)
        room = sizes[-1] * strides[-1]
        for dim in reversed(order):
            room += self.rng.choice([0, 0, 0, 1, 2, 5, 16])
            room = -(-room // self.multiple) * self.multiple
            strides[dim] = room
            room *= sizes[dim]
            # Along one element no stride says anything.
            if sizes[dim] == 1 and self.rng.random() < 0.5:
                strides[dim] = self.rng.choice([0, 1, 7, 128])
        return strides

    def view(self, sizes: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """A view of memory full of random numbers."""
        offset = self.multiple * self.rng.choice([0, 0, 1, 2, 3])
        seed = self.rng.randrange(1000)
        return strided.view(sizes, self.strides(sizes), offset, dtype, seed)

    def write(self, tokens: int, pages: int, page: int) -> Write:
        """A cache in some layout, and its rows."""
        source = self.rng.choice(list(TYPES))
        heads = self.rng.choice([1, 1, 2, 3])
        head_dim = self.rng.choice(
            [1, 2, 4, 8, 12, 16, 24, 46, self.rng.randint(1, 70)]
        )
        layout = self.rng.choice(list(strided.MAPS))
        outer = {"nhd": (pages, page, heads), "hnd": (pages, heads, page)}
        cache = (*outer.get(layout, (pages * page, heads)), head_dim)
        return Write(
            self.view(cache, self.rng.choice(TYPES[source])),
            self.view((tokens, heads, head_dim), source),
            layout,
        )

    def slots(self, tokens: int, total: int) -> torch.Tensor:
        """Different slots; the last one may be written as -1."""
        slots = self.rng.sample(range(total), tokens)
        slots = [-1 if slot == total - 1 else slot for slot in slots]
        return torch.tensor(slots, dtype=self.rng.choice([torch.int32, torch.int64]))


def check(compiler, seed: int) -> None:
    """One program."""
    chooser = Chooser(seed)
    rng = chooser.rng
    pages, page = rng.choice([2, 3]), rng.choice([1, 2, 3, 16])
    tokens = rng.randint(1, min(5, pages * page))
    writes = [chooser.write(tokens, pages, page) for _ in range(rng.randint(1, 3))]
    slots = chooser.slots(tokens, pages * page)
    text = strided.module(writes, slots, dynamic=rng.random() < 0.5)
    built = strided.build(compiler, text, *rng.choice(OPTIONS))
    assert strided.check_call(built, writes, slots), seed


def check_all(compiler, first: int) -> None:
    """PROGRAMS programs, in a process of their own."""

    def run() -> list[str]:
        for seed in range(first * PROGRAMS, (first + 1) * PROGRAMS):
            check(compiler, seed)
        return []

    wrong = in_child(run)
    assert not wrong, wrong[0]


@pytest.mark.parametrize("first", range(TESTS))
def test_bytes(compiler, first):
    check_all(compiler, first)


@pytest.mark.long
@pytest.mark.parametrize("first", range(TESTS, LONG_TESTS))
def test_more_bytes(compiler, first):
    check_all(compiler, first)
