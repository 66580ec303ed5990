# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of writes: arguments, and what is computed from them."""

from collections.abc import Sequence

from .dtypes import FLOATS
from .model import Dim, Element, Range, Slice, Type
from .tokens import TokenBuilder

#: Element types that the arith dialect computes in.
COMPUTED = ("f32", "f16", "bf16")
#: Numbers to scale by; all are exact in each of the types above.
SCALES = (0.5, 3.0, -1.0, 1.0, 448.0, 0.0)
#: Bounds of a clamp.
BOUNDS = (448.0, 240.0, 1.5)


class RowBuilder(TokenBuilder):
    """Adds the values of writes to a program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        #: Counter and number of rounds of the loop around, if there is one.
        self.loop: tuple[str, int] | None = None

    def casts(self, dtype: str) -> list[str]:
        """Element types that a row has on its way into a cache of `dtype`."""
        chain = [dtype]
        if dtype not in FLOATS:
            return chain
        for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2])):
            chain.insert(0, self.rng.choice([t for t in FLOATS if t != chain[0]]))
        return chain

    def given_rows(self, dtype: str, dims: Sequence[Dim]) -> str:
        """An argument of rows, a new one or one that a write has already; in a
        loop often the part of one that the counter says."""
        if self.loop and self.chance(0.7):
            counter, rounds = self.loop
            whole = self.argument("rows", Type.plain(dtype, (rounds, *dims)))
            result = self.add("rows", Type.plain(dtype, dims))
            part = (Range(counter, 1, kept=False), *(Range() for _ in dims))
            self.ops.append(Slice(result, whole, part))
            return result
        same = [
            name
            for name in self.program.arguments
            if name.startswith("rows")
            and self.program.types[name].dtype == dtype
            and self.program.types[name].dims == tuple(dims)
        ]
        if same and self.chance(0.4):
            return self.rng.choice(same)
        return self.argument("rows", self.tensor(dtype, dims))

    def rows(self, dtype: str, dims: Sequence[Dim]) -> tuple[str, tuple]:
        """Rows of a cache of `dtype`, and the casts that its region does."""
        chain = self.casts(dtype)
        if len(chain) == 1:
            return self.plain_rows(dtype, dims), ()
        value = self.computed(self.given_rows(chain[0], dims))
        in_region = self.rng.choice([0, 0, 1])
        steps = [(result, self.saturates(result)) for result in chain[1:]]
        for result, saturating in steps[: len(steps) - in_region]:
            value = self.computed(self.convert(value, result, saturating))
        return value, tuple(steps[len(steps) - in_region :])

    def plain_rows(self, dtype: str, dims: Sequence[Dim]) -> str:
        """Rows that reach the cache without a cast."""
        if dtype == "i8" and self.chance(0.5):
            fp8 = self.given_rows(self.rng.choice(["f8E4M3FN", "f8E5M2"]), dims)
            return self.bitcast(fp8, "i8")
        value = self.given_rows(dtype, dims)
        if dtype == "f32" and self.chance(0.2):
            return self.compute("arith.negf", value)
        return self.computed(value)

    def computed(self, value: str) -> str:
        """Sometimes `value` scaled, sometimes clamped."""
        if self.program.types[value].dtype not in COMPUTED:
            return value
        if self.uses("scale"):
            value = self.scaled(value)
        if self.uses("clamp"):
            value = self.clamped_value(value)
        return value

    def scaled(self, value: str) -> str:
        """A product or quotient with a constant, or a tensor of one element."""
        if self.chance(0.5):
            scale = self.splat(self.rng.choice(SCALES), value)
        else:
            made = self.program.types[value]
            element = self.argument("scale", Type.plain(made.dtype, (1,)))
            scale = self.add("scale", made)
            self.ops.append(Element(scale, element, value))
        operands = [value, scale]
        name = self.rng.choice(["arith.mulf", "arith.divf"])
        if name == "arith.mulf" and self.chance(0.3):
            operands.reverse()
        return self.compute(name, *operands)

    def clamped_value(self, value: str) -> str:
        """A clamp between constants that keeps NaNs."""
        bound = self.rng.choice(BOUNDS)
        lower = self.compute("arith.maximumf", value, self.splat(-bound, value))
        return self.compute("arith.minimumf", lower, self.splat(bound, value))
