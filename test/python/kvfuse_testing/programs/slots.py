# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokens of a call: values of all index vectors and masks of a program."""

import math
import random
from collections.abc import Mapping

import numpy as np

from .. import cases
from . import oracle
from .dtypes import ARRAYS
from .model import Destination, Dim, Function, Write

#: A cache has about this many slots, whatever its page size.
LEAST_SLOTS, MOST_SLOTS = 36, 60
#: Indices that are mostly outside every cache, by element type.
FAR = {
    "i32": [9 * MOST_SLOTS, -(2**31), 2**31 - 1],
    "i64": [-(2**40) - 1, 2**31, 2**32, 2**40 + 17],
}


def choose_sizes(rng: random.Random, program: Function) -> dict[str, int]:
    """The numbers of pages or slots of the caches."""
    slots = rng.choice([LEAST_SLOTS, 48, MOST_SLOTS])
    return {
        dim: -(-slots // program.page_sizes[name])
        for name in program.versions
        for dim in program.types[name].dims
        if isinstance(dim, str)
    }


def propose_indices(
    rng: random.Random, program: Function, name: str, count: int
) -> list[int]:
    """`count` values for index vector or mask `name`: most are slots that every
    cache has, some are negative, some far away."""
    made = program.types[name]
    if made.dtype == "i1":
        return [rng.random() < 0.8 for _ in range(count)]
    size = program.page_sizes.get(name)
    limit = LEAST_SLOTS
    if size:
        limit = size if name.startswith("offsets") else LEAST_SLOTS // size

    def propose() -> int:
        kind = rng.random()
        if kind < 0.75:
            return rng.randrange(limit)
        if kind < 0.92:
            return rng.randrange(-limit, 0)
        return rng.choice([limit, MOST_SLOTS, -MOST_SLOTS, *FAR[made.dtype]])

    return [propose() for _ in range(count)]


class Candidates:
    """Tokens over one dimension, and what the writes would do with them."""

    def __init__(
        self,
        program: Function,
        symbols: Mapping[str, int],
        dim: Dim,
        values: dict[str, np.ndarray],
    ) -> None:
        self.values = values
        count = len(next(iter(values.values())))
        #: Would the token make the call fail?
        self.traps = np.zeros(count, bool)
        #: Would it break a promise that the program made?
        self.breaks = np.zeros(count, bool)
        #: One entry per destination: the place of each token, -1 for none.
        self.places: list[list[int]] = []
        state = oracle.run_indices(program, symbols, values, dim)
        for write in program.writes():
            if program.types[write.indices[0]].dims == (dim,):
                for dest in write.destinations:
                    self._add(state, write, dest)

    def _add(self, state: oracle.State, write: Write, dest: Destination) -> None:
        places = oracle.places(state, write, dest)
        count = oracle.token_count(state, write)
        shape = (count, *dest.rows)

        def any_of(array: np.ndarray) -> np.ndarray:
            return np.broadcast_to(array, shape).reshape(count, -1).any(axis=1)

        outside = any_of(places.active & ~places.inside)
        if write.out_of_bounds == "trap":
            self.traps |= outside
        if write.out_of_bounds == "undefined":
            self.breaks |= outside
        if write.negative == "undefined":
            self.breaks |= any_of(places.active & places.negative)
        keep = np.broadcast_to(places.active & places.inside, shape)
        sizes = state.types[dest.cache].sizes(state.symbols)
        strides = cases.dense_strides(sizes, range(len(sizes)))
        address = sum(
            c * step for c, step in zip(places.coordinates, strides, strict=True)
        )
        nowhere = math.prod(sizes)
        firsts = np.where(keep, address, nowhere).reshape(count, -1).min(axis=1)
        self.places.append([int(p) if p < nowhere else -1 for p in firsts])

    def choose(self, count: int, kind: str) -> list[int] | None:
        """At most `count` tokens; for kind `trap` the first one traps, None if
        none does; for kind `duplicate` they may share a place."""
        order = list(range(len(self.traps)))
        if kind == "trap":
            order.sort(key=lambda token: not self.traps[token])
        chosen: list[int] = []
        taken: list[set[int]] = [set() for _ in self.places]
        for token in order:
            if len(chosen) == count:
                break
            may_trap = kind == "trap" and not chosen
            if self.breaks[token] or (self.traps[token] and not may_trap):
                continue
            wanted = [place[token] for place in self.places]
            if kind != "duplicate" and any(
                place in known for place, known in zip(wanted, taken, strict=True)
            ):
                continue
            for place, known in zip(wanted, taken, strict=True):
                if place >= 0:
                    known.add(place)
            chosen.append(token)
        if kind == "trap" and not (chosen and self.traps[chosen[0]]):
            return None
        return chosen


def choose_tokens(
    rng: random.Random,
    program: Function,
    symbols: dict[str, int],
    count: int,
    kind: str,
) -> dict[str, np.ndarray] | None:
    """Values of all index vectors and masks; adds the numbers of tokens to
    `symbols`. None if no token traps where the kind wants one."""
    made: dict[str, np.ndarray] = {}
    trapped = False
    for dim, names in program.token_arguments().items():
        wanted = dim if isinstance(dim, int) else count
        total = 8 if kind == "duplicate" else 4 * wanted + 24
        values = {
            name: np.array(
                propose_indices(rng, program, name, total),
                ARRAYS[program.types[name].dtype],
            )
            for name in names
        }
        candidates = Candidates(program, symbols, dim, values)
        chosen = candidates.choose(wanted, kind)
        if chosen is None:
            chosen = candidates.choose(wanted, "distinct")
        elif kind == "trap":
            trapped = True
        if kind == "duplicate" and chosen:
            chosen = [rng.choice(chosen) for _ in range(wanted)]
        if isinstance(dim, int) and len(chosen) < dim:
            return None
        rng.shuffle(chosen)
        if isinstance(dim, str):
            symbols[dim] = len(chosen)
        made |= {name: array[chosen] for name, array in values.items()}
    return made if trapped or kind != "trap" else None
