# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program is: types, operations, and a function of them."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from . import dtypes

#: The size of a dimension: a number, or a symbol that each call gives a value.
Dim = int | str
#: An affine expression: ("dim", i), ("number", n), and (operator, left, right)
#: with operator +, *, floordiv or mod.
Expr = tuple


@dataclasses.dataclass(frozen=True)
class Type:
    """A tensor type; `unknown` says which numbers among `dims` print as `?`."""

    dtype: str
    dims: tuple[Dim, ...]
    unknown: tuple[bool, ...]

    def of(self, dtype: str) -> "Type":
        """The same shape with another element type."""
        return dataclasses.replace(self, dtype=dtype)

    def sizes(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The sizes where symbols have the values given."""
        return tuple(symbols[d] if isinstance(d, str) else d for d in self.dims)


@dataclasses.dataclass(frozen=True)
class Extend:
    """arith.extsi of i32 index values [T] to i64 (SX1)."""

    result: str
    value: str


@dataclasses.dataclass(frozen=True)
class Apply:
    """kv.apply of `expr`, whose dimensions are the inputs [T]."""

    result: str
    expr: Expr
    inputs: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Splat:
    """`number` for each token of `like` [T]."""

    result: str
    number: int
    like: str


@dataclasses.dataclass(frozen=True)
class Compare:
    """arith.cmpi of index values [T]: a mask [T]."""

    result: str
    predicate: str
    left: str
    right: str


@dataclasses.dataclass(frozen=True)
class Convert:
    """kv.cast on tensors of any shape."""

    result: str
    value: str
    saturating: bool


@dataclasses.dataclass(frozen=True)
class Bitcast:
    """arith.bitcast between types of one width, on tensors of any shape."""

    result: str
    value: str


@dataclasses.dataclass(frozen=True)
class Compute:
    """An elementwise operation that keeps the type, on tensors of any shape."""

    result: str
    name: str
    inputs: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Destination:
    """What a write does to one cache."""

    result: str
    cache: str
    values: str
    #: One expression over (token, index values, row) per dimension of the cache.
    map: tuple[Expr, ...]
    #: Which of (token, row coordinates) each dimension of the values is.
    order: tuple[int, ...]
    #: Extents of the row coordinates.
    rows: tuple[int, ...]
    box: bool = False
    #: Casts in the region: (element type, saturating).
    casts: tuple[tuple[str, bool], ...] = ()


@dataclasses.dataclass(frozen=True)
class Write:
    """kv.write of tokens [T]."""

    indices: tuple[str, ...]
    destinations: tuple[Destination, ...]
    negative: str
    out_of_bounds: str
    mask: str | None = None
    #: (number of an index, predicate, constant): the region `where`.
    where: tuple[int, str, int] | None = None


Op = Extend | Apply | Splat | Compare | Convert | Bitcast | Compute | Write


@dataclasses.dataclass
class Function:
    """A function: its arguments, operations and results, all by name."""

    name: str
    types: dict[str, Type] = dataclasses.field(default_factory=dict)
    arguments: list[str] = dataclasses.field(default_factory=list)
    ops: list[Op] = dataclasses.field(default_factory=list)
    results: list[str] = dataclasses.field(default_factory=list)
    #: Cache argument -> its versions, the argument first.
    versions: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    #: Arguments that are not declared mutated although they are written.
    undeclared: set[str] = dataclasses.field(default_factory=set)
    #: Values whose NaNs may have any encoding (SC6).
    rounded: set[str] = dataclasses.field(default_factory=set)
    #: Caches whose last version nobody uses: the write may be left out.
    unused: set[str] = dataclasses.field(default_factory=set)
    #: Page and offset vectors, and caches with pages -> page size.
    page_sizes: dict[str, int] = dataclasses.field(default_factory=dict)

    def writes(self) -> list[Write]:
        """The writes, in order."""
        return [op for op in self.ops if isinstance(op, Write)]

    def outputs(self) -> list[str]:
        """The results that the compiled function returns: not the caches."""
        caches = self._all_versions()
        return [name for name in self.results if name not in caches]

    def reads_caches(self) -> bool:
        """Does an operation other than a write use the contents of a cache?"""
        caches = self._all_versions()
        return any(
            not caches.isdisjoint(op.inputs if isinstance(op, Compute) else [op.value])
            for op in self.ops
            if isinstance(op, Convert | Compute | Bitcast)
        )

    def _all_versions(self) -> set[str]:
        return {name for names in self.versions.values() for name in names}

    def token_arguments(self) -> dict[Dim, list[str]]:
        """Dimension T -> the arguments that are index vectors or masks over it."""
        arguments: dict[Dim, list[str]] = {}
        for name in self.arguments:
            made = self.types[name]
            if made.dtype in dtypes.TOKEN_TYPES:
                arguments.setdefault(made.dims[0], []).append(name)
        return arguments

    def is_rounded(self, argument: str) -> bool:
        """May the NaNs in a cache or in rows have any encoding (SC6)?"""
        return not self.rounded.isdisjoint(self.versions.get(argument, [argument]))

    def comparable(self, name: str, array: np.ndarray) -> np.ndarray:
        """The cells of value `name` as they are compared (SC6)."""
        return dtypes.canonical(self.types[name].dtype, array, name in self.rounded)
