# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds values, arguments and operations to a program."""

import contextlib
import random
from collections.abc import Iterator, Sequence

from .dtypes import FLOATS
from .features import FEATURES
from .model import Apply, Bitcast, Compute, Convert, Dim, Expr, Op, Splat, Type
from .text import Program


class Builder:
    """A program that grows, and the random numbers of its seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.program = Program(f"program_{seed}")
        #: Where operations are added: the function, or a region of it.
        self.ops: list[Op] = self.program.ops
        #: How many regions that is inside of.
        self.depth = 0
        #: Values to return besides the caches.
        self.readers: list[str] = []

    def chance(self, probability: float) -> bool:
        """True with `probability`."""
        return self.rng.random() < probability

    def uses(self, feature: str) -> bool:
        """Shall the program have a feature here?"""
        if not self.chance(FEATURES[feature]):
            return False
        self.program.features.add(feature)
        return True

    @contextlib.contextmanager
    def region(self) -> Iterator[list[Op]]:
        """A list of operations that are added from now on; what they compute is
        not known afterwards."""
        outer, readers = self.ops, list(self.readers)
        self.ops, self.depth = [], self.depth + 1
        yield self.ops
        self.ops, self.depth, self.readers = outer, self.depth - 1, readers

    def add(self, prefix: str, made: Type) -> str:
        """A new name of type `made`."""
        name = f"{prefix}{len(self.program.types)}"
        self.program.types[name] = made
        return name

    def argument(self, prefix: str, made: Type) -> str:
        """A new argument of type `made`."""
        name = self.add(prefix, made)
        self.program.arguments.append(name)
        return name

    def flag(self) -> str:
        """A flag, a new argument or an old one."""
        flags = self.program.flags
        if not flags or self.chance(0.5):
            flags.append(f"flag{len(flags)}")
        return self.rng.choice(flags)

    def tensor(self, dtype: str, dims: Sequence[Dim]) -> Type:
        """A type that hides some of the sizes in `dims`."""
        hide = self.chance(0.3)
        return Type(dtype, tuple(dims), tuple(hide and self.chance(0.5) for _ in dims))

    def apply(self, expr: Expr, *inputs: str) -> str:
        """A kv.apply of `expr` on i64 vectors."""
        result = self.add("index", self.program.types[inputs[0]])
        self.ops.append(Apply(result, expr, inputs))
        return result

    def splat(self, number: int | float, like: str) -> str:
        """A tensor of `number` in the type of `like`."""
        result = self.add("splat", self.program.types[like])
        self.ops.append(Splat(result, number, like))
        return result

    def saturates(self, dtype: str) -> bool:
        """A mode for a cast to `dtype` (SC3)."""
        return dtype == "f8E4M3FN" and self.chance(0.6)

    def convert(self, value: str, dtype: str, saturating: bool) -> str:
        """A kv.cast; sometimes its result has another user (SM6)."""
        result = self.add("cast", self.program.types[value].of(dtype))
        self.ops.append(Convert(result, value, saturating))
        self.program.rounded.add(result)
        if self.chance(0.15):
            self.readers.append(result)
        return result

    def bitcast(self, value: str, dtype: str) -> str:
        """An arith.bitcast."""
        result = self.add("bits", self.program.types[value].of(dtype))
        self.ops.append(Bitcast(result, value))
        return result

    def compute(self, name: str, *inputs: str) -> str:
        """An elementwise operation that keeps the type."""
        made = self.program.types[inputs[0]]
        result = self.add("computed", made)
        self.ops.append(Compute(result, name, inputs))
        if made.dtype in FLOATS:
            self.program.rounded.add(result)
        return result
