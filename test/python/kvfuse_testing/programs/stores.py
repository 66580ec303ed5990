# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a write does, in NumPy, from the rules of docs/semantics.md."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from . import model
from .values import PREDICATES, State, convert, evaluate


@dataclasses.dataclass(frozen=True)
class Places:
    """Where the elements of a write go; arrays broadcast to [grid..., rows...]."""

    #: One array of coordinates per dimension of the cache, wrapped.
    coordinates: list[np.ndarray]
    #: Is the token written at all?
    active: np.ndarray
    #: Is the place inside the cache?
    inside: np.ndarray
    #: Is a coordinate negative before wrapping?
    negative: np.ndarray


def grid(state: State, write: model.Write) -> tuple[int, ...]:
    """The shape of the token grid."""
    return state.values[write.indices[0]].shape


def places(state: State, write: model.Write, dest: model.Destination) -> Places:
    """Where the elements of `dest` go (SX1 to SX6)."""
    tokens = grid(state, write)
    coordinates = np.indices((*tokens, *dest.rows), dtype=np.int64, sparse=True)
    by_token = (*tokens, *(1 for _ in dest.rows))
    slots = [state.values[name].astype(np.int64) for name in write.indices]
    rank = len(tokens)
    dims = [
        *coordinates[:rank],
        *(slot.reshape(by_token) for slot in slots),
        *coordinates[rank:],
    ]
    sizes = state.types[dest.cache].sizes(state.symbols)

    made = []
    inside, negative = np.bool_(True), np.bool_(False)
    for expr, size in zip(dest.map, sizes, strict=True):
        place = evaluate(expr, dims)
        negative = negative | (place < 0)
        if write.negative == "wrap":
            place = np.where(place < 0, place + size, place)
        inside = inside & (place >= 0) & (place < size)
        made.append(place)
    active = _active(state, write, slots).reshape(by_token)
    return Places(made, active, inside, negative)


def _active(
    state: State, write: model.Write, slots: Sequence[np.ndarray]
) -> np.ndarray:
    """Which tokens are written; `slots` are the index values."""
    active = np.ones(grid(state, write), bool)
    if write.mask:
        active &= state.values[write.mask]
    if write.where:
        number, predicate, constant = write.where
        active &= PREDICATES[predicate](slots[number], constant)
    return active


def _elements(
    state: State, dest: model.Destination, tokens: tuple[int, ...]
) -> np.ndarray:
    """The elements to store [grid..., rows...]."""
    dtype, array = state.types[dest.values].dtype, state.values[dest.values]
    for result, saturating in dest.casts:
        array, dtype = convert(array, dtype, result, saturating), result
    # [dims of the values] -> the dimensions they are, and 1 for the others.
    shape = (*tokens, *dest.rows)
    array = array.transpose(np.argsort(dest.order))
    missing = [i for i in range(len(shape)) if i not in dest.order]
    return np.broadcast_to(np.expand_dims(array, missing), shape)


def store(state: State, write: model.Write, dest: model.Destination) -> None:
    """Stores the elements of `dest` (SX5, SX7)."""
    where = places(state, write, dest)
    tokens = grid(state, write)
    shape = (*tokens, *dest.rows)
    if write.out_of_bounds == "trap":
        outside = np.broadcast_to(where.active & ~where.inside, shape)
        state.trapped |= bool(outside.any())

    def in_order(array: np.ndarray) -> np.ndarray:
        """One row per token, in the order in which they are stored."""
        whole = np.broadcast_to(array, shape)
        flat = whole.reshape(math.prod(tokens), math.prod(dest.rows))
        return np.roll(flat, -state.first, axis=0)

    keep = in_order(where.active & where.inside)
    index = tuple(in_order(place)[keep] for place in where.coordinates)
    stored = state.values[dest.cache].copy()
    stored[index] = in_order(_elements(state, dest, tokens))[keep]
    state.values[dest.result] = stored
    named = state.named_in(dest.cache).copy()
    named[index] = True
    state.named[dest.result] = named
