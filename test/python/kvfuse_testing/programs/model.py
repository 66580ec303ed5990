# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program is made of: types and operations."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

#: The size of a dimension: a number, a symbol that each call gives a value, or
#: (symbol, n) for n times a symbol.
Dim = int | str | tuple[str, int]
#: An affine expression: ("dim", i), ("number", n), and (operator, left, right)
#: with operator +, *, floordiv or mod.
Expr = tuple


def size_of(dim: Dim, symbols: Mapping[str, int]) -> int:
    """The size of `dim` where symbols have the values given."""
    match dim:
        case str():
            return symbols[dim]
        case (symbol, factor):
            return symbols[symbol] * factor
    return dim


@dataclasses.dataclass(frozen=True)
class Type:
    """A tensor type; `unknown` says which numbers among `dims` print as `?`."""

    dtype: str
    dims: tuple[Dim, ...]
    unknown: tuple[bool, ...]

    @classmethod
    def plain(cls, dtype: str, dims: Sequence[Dim]) -> "Type":
        """A type that hides no number."""
        return cls(dtype, tuple(dims), (False,) * len(dims))

    def of(self, dtype: str) -> "Type":
        """The same shape with another element type."""
        return dataclasses.replace(self, dtype=dtype)

    def sizes(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The sizes where symbols have the values given."""
        return tuple(size_of(dim, symbols) for dim in self.dims)


@dataclasses.dataclass(frozen=True)
class Range:
    """A slice of one dimension; without a size, all of it."""

    #: A number, or the counter of a loop.
    offset: int | str = 0
    size: int | None = None
    #: Does the dimension stay? One that does not has size 1.
    kept: bool = True


#: A slice of a tensor: one range per dimension.
Part = tuple[Range, ...]


# -- Index values and masks


@dataclasses.dataclass(frozen=True)
class Resize:
    """arith.extsi or arith.trunci of index values (SX1)."""

    result: str
    value: str


@dataclasses.dataclass(frozen=True)
class Apply:
    """kv.apply of `expr`, whose dimensions are the inputs, all of one shape."""

    result: str
    expr: Expr
    inputs: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Splat:
    """`number` for each element of `like`."""

    result: str
    number: int | float
    like: str


@dataclasses.dataclass(frozen=True)
class Count:
    """0, 1, 2, ... as a constant vector."""

    result: str


@dataclasses.dataclass(frozen=True)
class Spread:
    """linalg.broadcast along the dimensions `added`, to the sizes of `like`
    where they are no numbers."""

    result: str
    value: str
    added: tuple[int, ...]
    like: str


@dataclasses.dataclass(frozen=True)
class Reshape:
    """tensor.collapse_shape of the first two dimensions, or tensor.expand_shape
    of the first one to two, whichever the ranks say."""

    result: str
    value: str


@dataclasses.dataclass(frozen=True)
class Compare:
    """arith.cmpi of index values: a mask."""

    result: str
    predicate: str
    left: str
    right: str


# -- Values of any shape


@dataclasses.dataclass(frozen=True)
class Convert:
    """kv.cast."""

    result: str
    value: str
    saturating: bool


@dataclasses.dataclass(frozen=True)
class Bitcast:
    """arith.bitcast between types of one width."""

    result: str
    value: str


@dataclasses.dataclass(frozen=True)
class Element:
    """The only element of `value` for each element of `like`."""

    result: str
    value: str
    like: str


@dataclasses.dataclass(frozen=True)
class Compute:
    """An elementwise operation that keeps the type."""

    result: str
    name: str
    inputs: tuple[str, ...]


# -- Parts of tensors


@dataclasses.dataclass(frozen=True)
class Slice:
    """tensor.extract_slice."""

    result: str
    value: str
    part: Part


@dataclasses.dataclass(frozen=True)
class Insert:
    """tensor.insert_slice of `value` as a part of `whole`."""

    result: str
    value: str
    whole: str
    part: Part


# -- Writes


@dataclasses.dataclass(frozen=True)
class Destination:
    """What a write does to one cache."""

    result: str
    cache: str
    values: str
    #: One expression over (grid, index values, row) per dimension of the cache.
    map: tuple[Expr, ...]
    #: Which of (grid, row coordinates) each dimension of the values is.
    order: tuple[int, ...]
    #: Extents of the row coordinates.
    rows: tuple[int, ...]
    box: bool = False
    #: Casts in the region: (element type, saturating).
    casts: tuple[tuple[str, bool], ...] = ()


@dataclasses.dataclass(frozen=True)
class Write:
    """kv.write of a grid of tokens, the shape of its index values."""

    indices: tuple[str, ...]
    destinations: tuple[Destination, ...]
    negative: str
    out_of_bounds: str
    mask: str | None = None
    #: (number of an index, predicate, constant): the region `where`.
    where: tuple[int, str, int] | None = None


# -- Regions


@dataclasses.dataclass(frozen=True)
class If:
    """scf.if of a flag."""

    flag: str
    then: tuple["Op", ...]
    otherwise: tuple["Op", ...]
    #: (result, value of the branch `then`, value of the other).
    results: tuple[tuple[str, str, str], ...]


@dataclasses.dataclass(frozen=True)
class For:
    """scf.for with a counter from 0."""

    counter: str
    rounds: int
    body: tuple["Op", ...]
    #: (result, argument of the body, its first value, what the body yields).
    carried: tuple[tuple[str, str, str, str], ...]


Op = (
    Resize
    | Apply
    | Splat
    | Count
    | Spread
    | Reshape
    | Compare
    | Convert
    | Bitcast
    | Element
    | Compute
    | Slice
    | Insert
    | Write
    | If
    | For
)


def walk(ops: Sequence[Op]) -> Iterator[Op]:
    """The operations and those in their regions, in order."""
    for op in ops:
        yield op
        match op:
            case If(_, then, otherwise, _):
                yield from walk(then)
                yield from walk(otherwise)
            case For():
                yield from walk(op.body)


def operands(op: Op) -> list[str]:
    """What an operation without regions, and no write, takes."""
    match op:
        case Apply() | Compute():
            return list(op.inputs)
        case Compare(_, _, left, right):
            return [left, right]
        case Splat(_, _, like):
            return [like]
        case Count():
            return []
        case Spread() | Element():
            return [op.value, op.like]
        case Insert():
            return [op.value, op.whole]
    return [op.value]
