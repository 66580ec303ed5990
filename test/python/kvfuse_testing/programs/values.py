# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the operations other than writes compute, in NumPy."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .. import casts
from . import model
from .dtypes import ARRAYS, FLOATS


@dataclasses.dataclass
class State:
    """One run: the values so far, and what the writes did."""

    types: Mapping[str, model.Type]
    #: Values of the symbols in types.
    symbols: Mapping[str, int]
    values: dict[str, np.ndarray]
    #: Values of the flags, and of the counters of loops.
    scalars: dict[str, int] = dataclasses.field(default_factory=dict)
    #: Tokens are stored in order from this one on, round the end; the last wins.
    first: int = 0
    #: Did a token with out_of_bounds(trap) miss a cache?
    trapped: bool = False
    #: Version of a cache -> which elements a valid token has named so far.
    named: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)

    def named_in(self, cache: str) -> np.ndarray:
        """Which elements of a version a valid token has named so far."""
        return self.named.get(cache, np.zeros(self.values[cache].shape, bool))


OPERATORS = {
    "+": np.add,
    "*": np.multiply,
    "floordiv": np.floor_divide,
    "mod": np.mod,
}
#: Predicates of arith.cmpi.
PREDICATES = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}


def evaluate(expr: model.Expr, dims: Sequence[np.ndarray]) -> np.ndarray:
    """`expr` in 64 bits, elementwise; division rounds down (SX2)."""
    match expr:
        case ("dim", number):
            return dims[number]
        case ("number", number):
            return np.int64(number)
        case (operator, left, right):
            return OPERATORS[operator](evaluate(left, dims), evaluate(right, dims))
    raise ValueError(expr)


def _truncated(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The quotient rounded towards zero."""
    quotient = np.abs(left) // np.abs(right)
    return np.where((left < 0) != (right < 0), -quotient, quotient).astype(left.dtype)


#: Operations on integers and on masks; i8 is unsigned here, the others signed.
INTEGERS: dict[str, Callable[..., np.ndarray]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.floordivsi": np.floor_divide,
    "arith.shrsi": np.right_shift,
    "arith.shli": np.left_shift,
    "arith.divsi": _truncated,
    "arith.remsi": np.fmod,
}
#: Operations on floats; those on narrow ones are computed in f32 and rounded.
NUMBERS: dict[str, Callable[..., np.ndarray]] = {
    "arith.addf": np.add,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
}


def _compute(name: str, dtype: str, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """An elementwise operation on arrays of one type."""
    if name in INTEGERS:
        return INTEGERS[name](*arrays)
    numpy = casts.NUMPY_TYPES[FLOATS[dtype]]
    with np.errstate(all="ignore"):
        wide = (array.view(numpy).astype(np.float32) for array in arrays)
        return NUMBERS[name](*wide).astype(numpy).view(ARRAYS[dtype])


def convert(
    array: np.ndarray, source: str, result: str, saturating: bool
) -> np.ndarray:
    """Cells of type `source` rounded once to type `result` (SC1 to SC3)."""
    cast = casts.Cast(FLOATS[source], FLOATS[result], saturating)
    return casts.by_ml_dtypes(cast, array)


def _number(dtype: str, number: int | float) -> np.ndarray:
    """The cell of a number."""
    if dtype in FLOATS:
        numpy = casts.NUMPY_TYPES[FLOATS[dtype]]
        return np.array([number], np.float32).astype(numpy).view(ARRAYS[dtype])
    return np.array([number], ARRAYS[dtype])


def section(state: State, part: model.Part) -> tuple[int | slice, ...]:
    """A part as an index of NumPy."""

    def index(span: model.Range) -> int | slice:
        start = span.offset
        if isinstance(start, str):
            start = state.scalars[start]
        if not span.kept:
            return start
        return slice(start, None if span.size is None else start + span.size)

    return tuple(map(index, part))


def _spread(state: State, op: model.Spread) -> np.ndarray:
    array = np.expand_dims(state.values[op.value], op.added)
    sizes = list(array.shape)
    like = state.values[op.like].shape
    for dim in op.added:
        in_type = state.types[op.result].dims
        sizes[dim] = like[dim] if dim < len(like) else in_type[dim]
    return np.broadcast_to(array, sizes)


def _insert(state: State, op: model.Insert) -> np.ndarray:
    where = section(state, op.part)
    named = state.named_in(op.whole).copy()
    named[where] |= state.named_in(op.value)
    state.named[op.result] = named
    whole = state.values[op.whole].copy()
    whole[where] = state.values[op.value]
    return whole


def value(state: State, op: model.Op) -> np.ndarray:
    """The result of an operation that is no write and has no regions."""
    values, made = state.values, state.types[op.result]
    array = ARRAYS[made.dtype]
    match op:
        case model.Resize(_, source):
            return values[source].astype(array)
        case model.Apply(_, expr, inputs):
            return evaluate(expr, [values[name] for name in inputs])
        case model.Splat(_, number, like):
            return np.broadcast_to(_number(made.dtype, number), values[like].shape)
        case model.Count():
            return np.arange(made.dims[0], dtype=array)
        case model.Spread():
            return _spread(state, op)
        case model.Reshape(_, source):
            return values[source].reshape(-1, *made.dims[1:])
        case model.Compare(_, predicate, left, right):
            return PREDICATES[predicate](values[left], values[right])
        case model.Convert(_, source, saturating):
            before = state.types[source].dtype
            return convert(values[source], before, made.dtype, saturating)
        case model.Bitcast(_, source):
            return values[source].view(array)
        case model.Element(_, source, like):
            return np.broadcast_to(values[source], values[like].shape)
        case model.Compute(_, name, inputs):
            return _compute(name, made.dtype, [values[name] for name in inputs])
        case model.Slice(_, source, part):
            where = section(state, part)
            state.named[op.result] = state.named_in(source)[where]
            return values[source][where].copy()
        case model.Insert():
            return _insert(state, op)
    raise TypeError(op)
