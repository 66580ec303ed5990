# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program does, in NumPy, from the rules of docs/semantics.md.

It shares no code with the compiler, and none with what prints programs.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .. import casts
from . import model
from .dtypes import ARRAYS, FLOATS, TOKEN_TYPES


@dataclasses.dataclass
class State:
    """One run: the values so far, and what the writes did."""

    types: Mapping[str, model.Type]
    #: Values of the symbols in types.
    symbols: Mapping[str, int]
    values: dict[str, np.ndarray]
    #: Tokens are stored in order from this one on, round the end; the last wins.
    first: int = 0
    #: Did a token with out_of_bounds(trap) miss a cache?
    trapped: bool = False
    #: Result of a write -> which elements of its cache a valid token names.
    named: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Places:
    """Where the elements of a write go; arrays broadcast to [T, rows...]."""

    #: One array of coordinates per dimension of the cache, wrapped.
    coordinates: list[np.ndarray]
    #: Is the token written at all?
    active: np.ndarray
    #: Is the place inside the cache?
    inside: np.ndarray
    #: Is a coordinate negative before wrapping?
    negative: np.ndarray


def run(
    function: model.Function,
    symbols: Mapping[str, int],
    values: Mapping[str, np.ndarray],
    first: int = 0,
) -> State:
    """Runs the function on arrays for its arguments, which it does not change."""
    state = State(function.types, symbols, dict(values), first)
    for op in function.ops:
        if isinstance(op, model.Write):
            for dest in op.destinations:
                _store(state, op, dest)
        else:
            state.values[op.result] = _value(state, op)
    return state


def run_indices(
    function: model.Function,
    symbols: Mapping[str, int],
    values: Mapping[str, np.ndarray],
    dim: model.Dim,
) -> State:
    """Computes the index values and masks of `dim` tokens alone."""
    state = State(function.types, symbols, dict(values))
    for op in function.ops:
        if isinstance(op, model.Write):
            continue
        made = function.types[op.result]
        if made.dims == (dim,) and made.dtype in TOKEN_TYPES:
            state.values[op.result] = _value(state, op)
    return state


# -- Values

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


def _on_f32(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`function` of f32 values, on cells."""

    def compute(*arrays: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return function(*(array.view(np.float32) for array in arrays)).view("u4")

    return compute


#: What a Compute does, by its name, on cells and masks.
COMPUTE = {
    "arith.addf": _on_f32(np.add),
    "arith.mulf": _on_f32(np.multiply),
    "arith.negf": _on_f32(np.negative),
    "arith.addi": np.add,
    "arith.andi": np.logical_and,
    "arith.ori": np.logical_or,
}


def convert(
    array: np.ndarray, source: str, result: str, saturating: bool
) -> np.ndarray:
    """Cells of type `source` rounded once to type `result` (SC1 to SC3)."""
    cast = casts.Cast(FLOATS[source], FLOATS[result], saturating)
    return casts.by_ml_dtypes(cast, array)


def _value(state: State, op: model.Op) -> np.ndarray:
    """The result of an operation that is no write."""
    values, dtype = state.values, state.types[op.result].dtype
    match op:
        case model.Extend(_, value):
            return values[value].astype(np.int64)
        case model.Apply(_, expr, inputs):
            return evaluate(expr, [values[name] for name in inputs])
        case model.Splat(_, number, like):
            return np.full(values[like].shape, number, ARRAYS[dtype])
        case model.Compare(_, predicate, left, right):
            return PREDICATES[predicate](values[left], values[right])
        case model.Convert(_, value, saturating):
            return convert(values[value], state.types[value].dtype, dtype, saturating)
        case model.Bitcast(_, value):
            return values[value].view(ARRAYS[dtype])
        case model.Compute(_, name, inputs):
            return COMPUTE[name](*(values[name] for name in inputs))
    raise TypeError(op)


# -- Writes


def token_count(state: State, write: model.Write) -> int:
    """T."""
    return len(state.values[write.indices[0]])


def places(state: State, write: model.Write, dest: model.Destination) -> Places:
    """Where the elements of `dest` go (SX1 to SX6)."""
    shape = (token_count(state, write), *dest.rows)
    token, *rows = np.indices(shape, dtype=np.int64, sparse=True)
    by_token = (-1, *(1 for _ in dest.rows))
    slots = [state.values[name].astype(np.int64) for name in write.indices]
    dims = [token, *(slot.reshape(by_token) for slot in slots), *rows]
    sizes = state.types[dest.cache].sizes(state.symbols)

    coordinates = []
    inside, negative = np.bool_(True), np.bool_(False)
    for expr, size in zip(dest.map, sizes, strict=True):
        place = evaluate(expr, dims)
        negative = negative | (place < 0)
        if write.negative == "wrap":
            place = np.where(place < 0, place + size, place)
        inside = inside & (place >= 0) & (place < size)
        coordinates.append(place)
    active = _active(state, write, slots).reshape(by_token)
    return Places(coordinates, active, inside, negative)


def _active(
    state: State, write: model.Write, slots: Sequence[np.ndarray]
) -> np.ndarray:
    """Which tokens are written, [T]; `slots` are the index values, one [T] each."""
    active = np.ones(token_count(state, write), bool)
    if write.mask:
        active &= state.values[write.mask]
    if write.where:
        number, predicate, constant = write.where
        active &= PREDICATES[predicate](slots[number], constant)
    return active


def _elements(state: State, dest: model.Destination, tokens: int) -> np.ndarray:
    """The elements to store [T, rows...]."""
    dtype, array = state.types[dest.values].dtype, state.values[dest.values]
    for result, saturating in dest.casts:
        array, dtype = convert(array, dtype, result, saturating), result
    # [dims of the values] -> the dimensions they are, and 1 for the others.
    array = array.transpose(np.argsort(dest.order))
    missing = [i for i in range(1 + len(dest.rows)) if i not in dest.order]
    return np.broadcast_to(np.expand_dims(array, missing), (tokens, *dest.rows))


def _store(state: State, write: model.Write, dest: model.Destination) -> None:
    """Stores the elements of `dest` (SX5, SX7)."""
    where = places(state, write, dest)
    shape = (token_count(state, write), *dest.rows)
    if write.out_of_bounds == "trap":
        outside = np.broadcast_to(where.active & ~where.inside, shape)
        state.trapped |= bool(outside.any())

    def in_order(array: np.ndarray) -> np.ndarray:
        return np.roll(np.broadcast_to(array, shape), -state.first, axis=0)

    keep = in_order(where.active & where.inside)
    index = tuple(in_order(place)[keep] for place in where.coordinates)
    stored = state.values[dest.cache].copy()
    stored[index] = in_order(_elements(state, dest, shape[0]))[keep]
    state.values[dest.result] = stored
    named = np.zeros(stored.shape, bool)
    named[index] = True
    state.named[dest.result] = named
