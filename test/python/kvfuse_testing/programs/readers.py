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
            version = self.slice("read", version, self.some_part(version))
        made = self.program.types[version]
        same = [n for n in self.readers if self.program.types[n] == made]
        other = self.rng.choice([version, *same])
        self.readers.append(self.rng.choice(self.readings(version, other))())

    def some_part(self, whole: str) -> Part:
        """The first row of a dimension, which is left out only where that leaves
        no other of size 1: which of them is meant would be upstream's to guess."""
        dims = self.program.types[whole].dims
        chosen = self.rng.randrange(len(dims))
        others = [size for dim, size in enumerate(dims) if dim != chosen]
        kept = 1 in others or not others or self.chance(0.5)
        made = [Range() for _ in dims]
        made[chosen] = Range(0, 1, kept=kept)
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
