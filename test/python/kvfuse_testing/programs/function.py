# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program is: a function of operations."""

import dataclasses

import numpy as np

from .dtypes import TOKEN_TYPES, canonical
from .model import Dim, Op, Type, Write, walk


@dataclasses.dataclass
class Function:
    """A function: its arguments, operations and results, all by name."""

    name: str
    types: dict[str, Type] = dataclasses.field(default_factory=dict)
    arguments: list[str] = dataclasses.field(default_factory=list)
    #: Arguments behind the others: one bit each.
    flags: list[str] = dataclasses.field(default_factory=list)
    ops: list[Op] = dataclasses.field(default_factory=list)
    results: list[str] = dataclasses.field(default_factory=list)
    #: Cache argument -> its versions outside of regions, the argument first.
    versions: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    #: Arguments that are not declared mutated although they are written.
    undeclared: set[str] = dataclasses.field(default_factory=set)
    #: Values whose NaNs may have any encoding (SC6).
    rounded: set[str] = dataclasses.field(default_factory=set)
    #: Caches whose last version nobody uses: the write may be left out.
    unused: set[str] = dataclasses.field(default_factory=set)
    #: Page and offset vectors, and caches with pages -> page size.
    page_sizes: dict[str, int] = dataclasses.field(default_factory=dict)
    #: Does an operation other than a write use the contents of a cache?
    reads_caches: bool = False
    #: What is in the program, by the names of the generator's features.
    features: set[str] = dataclasses.field(default_factory=set)

    def writes(self) -> list[Write]:
        """The writes, in order, those in regions included."""
        return [op for op in walk(self.ops) if isinstance(op, Write)]

    def outputs(self) -> list[str]:
        """The results that the compiled function returns: not the caches."""
        caches = {name for names in self.versions.values() for name in names}
        return [name for name in self.results if name not in caches]

    def token_arguments(self) -> dict[tuple[Dim, ...], list[str]]:
        """Shape of a grid -> the arguments that are index values or masks."""
        arguments: dict[tuple[Dim, ...], list[str]] = {}
        for name in self.arguments:
            made = self.types[name]
            if made.dtype in TOKEN_TYPES:
                arguments.setdefault(made.dims, []).append(name)
        return arguments

    def is_rounded(self, argument: str) -> bool:
        """May the NaNs in a cache or in rows have any encoding (SC6)?"""
        return not self.rounded.isdisjoint(self.versions.get(argument, [argument]))

    def comparable(self, name: str, array: np.ndarray) -> np.ndarray:
        """The cells of value `name` as they are compared (SC6)."""
        return canonical(self.types[name].dtype, array, name in self.rounded)
