# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that read what is in caches."""

from collections.abc import Callable

from .caches import CacheBuilder
from .dtypes import FLOATS, same_width
from .model import Part, Range


class ReadBuilder(CacheBuilder):
    """Adds readers to a program; what they compute is returned."""

    def read(self) -> None:
        """Sometimes an operation on the contents of a cache."""
        pools = self.used_pools()
        if self.depth or not pools or not self.chance(0.2):
            return
        self.program.reads_caches = True
        version = self.rng.choice(pools).version
        if self.uses("part-read"):
            part = self.some_part(len(self.program.types[version].dims))
            version = self.slice("read", version, part)
        made = self.program.types[version]
        same = [n for n in self.readers if self.program.types[n] == made]
        other = self.rng.choice([version, *same])
        self.readers.append(self.rng.choice(self.readings(version, other))())

    def some_part(self, rank: int) -> Part:
        """The first row of a dimension, or the second, which every cache has."""
        dim = self.rng.randrange(rank)
        made = [Range() for _ in range(rank)]
        made[dim] = Range(0, 1, kept=self.chance(0.5) or rank == 1)
        return tuple(made)

    def readings(self, version: str, other: str) -> list[Callable[[], str]]:
        """Ways to read `version`, some together with `other` of its type."""
        dtype = self.program.types[version].dtype
        ways: list[Callable[[], str]] = []
        if dtype in FLOATS:
            result = self.rng.choice([t for t in FLOATS if t != dtype])
            ways.append(lambda: self.convert(version, result, self.saturates(result)))
        if version not in self.program.rounded:
            ways.append(lambda: self.bitcast(version, same_width(dtype)))
        if dtype == "f32":
            name = self.rng.choice(["arith.addf", "arith.mulf"])
            ways.append(lambda: self.compute(name, version, other))
        if dtype == "i8":
            ways.append(lambda: self.compute("arith.addi", version, other))
        return ways
