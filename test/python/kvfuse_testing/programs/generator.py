# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes programs from seeds."""

from .model import Apply
from .regions import RegionBuilder
from .text import Program


class Generator(RegionBuilder):
    """Makes one program from a seed."""

    def generate(self) -> Program:
        """The program."""
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3, 4, 6])):
            self.read()
            self.step()
            if self.chance(0.1):
                self.unused_write()
        self.read()
        # An index that folds to an argument is no result of its own.
        indices = [
            op.result
            for op in self.program.ops
            if isinstance(op, Apply) and ("number", 1) not in op.expr
        ]
        if indices and self.chance(0.15):
            self.readers.append(self.rng.choice(indices))
        versions = [pool.version for pool in self.used_pools()]
        self.program.results = versions + self.readers
        self.rng.shuffle(self.program.results)
        return self.program

    def step(self) -> None:
        """One layer, and what goes with it."""
        if self.uses("conditional"):
            return self.conditional()
        if self.uses("loop"):
            return self.repeated_layer()
        self.layer(self.style())
        if self.chance(0.2):
            self.repeat()
        if self.uses("prewritten"):
            self.prewritten()
        return None


def generate(seed: int) -> Program:
    """The program of `seed`; all of its writes may be done in place."""
    return Generator(seed).generate()
