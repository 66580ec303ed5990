# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds values, arguments and operations to a program."""

import random
from collections.abc import Sequence

from .dtypes import FLOATS
from .model import Apply, Bitcast, Compute, Convert, Dim, Expr, Splat, Type
from .text import Program


class Builder:
    """A program that grows, and the random numbers of its seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.program = Program(f"program_{seed}")
        #: Values to return besides the caches.
        self.readers: list[str] = []

    def chance(self, probability: float) -> bool:
        """True with `probability`."""
        return self.rng.random() < probability

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

    def tensor(self, dtype: str, dims: Sequence[Dim]) -> Type:
        """A type that hides some of the sizes in `dims`."""
        hide = self.chance(0.3)
        return Type(dtype, tuple(dims), tuple(hide and self.chance(0.5) for _ in dims))

    def apply(self, expr: Expr, *inputs: str) -> str:
        """A kv.apply of `expr` on i64 vectors."""
        result = self.add("index", self.program.types[inputs[0]])
        self.program.ops.append(Apply(result, expr, inputs))
        return result

    def splat(self, number: int, like: str) -> str:
        """A vector of `number` in the type of `like`."""
        result = self.add("splat", self.program.types[like])
        self.program.ops.append(Splat(result, number, like))
        return result

    def saturates(self, dtype: str) -> bool:
        """A mode for a cast to `dtype` (SC3)."""
        return dtype == "f8E4M3FN" and self.chance(0.6)

    def convert(self, value: str, dtype: str, saturating: bool) -> str:
        """A kv.cast; sometimes its result has another user (SM6)."""
        result = self.add("cast", self.program.types[value].of(dtype))
        self.program.ops.append(Convert(result, value, saturating))
        self.program.rounded.add(result)
        if self.chance(0.15):
            self.readers.append(result)
        return result

    def bitcast(self, value: str, dtype: str) -> str:
        """An arith.bitcast."""
        result = self.add("bits", self.program.types[value].of(dtype))
        self.program.ops.append(Bitcast(result, value))
        return result

    def compute(self, name: str, *inputs: str) -> str:
        """An elementwise operation that keeps the type."""
        made = self.program.types[inputs[0]]
        result = self.add("computed", made)
        self.program.ops.append(Compute(result, name, inputs))
        if made.dtype in FLOATS:
            self.program.rounded.add(result)
        return result
