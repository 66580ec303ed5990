# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokens of a call: values of all index vectors and masks of a program."""

import math
import random
from collections.abc import Mapping

import numpy as np

from .. import cases
from . import oracle, stores
from .dtypes import ARRAYS
from .function import Function
from .model import Destination, Write
from .values import State

#: A cache has about this many slots, whatever its page size.
LEAST_SLOTS, MOST_SLOTS = 36, 60
#: Indices that are mostly outside every cache, by element type.
FAR = {
    "i32": [9 * MOST_SLOTS, -(2**31), 2**31 - 1, 2**30, 2**28],
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
    """Tokens of one grid, and what the writes would do with them. They come in
    units: those that share the first coordinate of the grid."""

    def __init__(
        self,
        program: Function,
        symbols: Mapping[str, int],
        values: dict[str, np.ndarray],
    ) -> None:
        self.count = len(next(iter(values.values())))
        #: Would the unit make the call fail?
        self.traps = np.zeros(self.count, bool)
        #: Would it break a promise that the program made?
        self.breaks = np.zeros(self.count, bool)
        #: Does it name an element twice?
        self.repeats = np.zeros(self.count, bool)
        #: Per destination, what each unit names: [units, elements], and how many
        #: elements there are; one more stands for none.
        self.named: list[tuple[np.ndarray, int]] = []
        state = oracle.run_indices(program, symbols, values)
        for write in program.writes():
            if all(name in state.values for name in write.indices):
                for dest in write.destinations:
                    self._add(state, write, dest)

    def _add(self, state: State, write: Write, dest: Destination) -> None:
        places = stores.places(state, write, dest)
        shape = (*stores.grid(state, write), *dest.rows)

        def by_unit(array: np.ndarray) -> np.ndarray:
            return np.broadcast_to(array, shape).reshape(self.count, -1)

        outside = by_unit(places.active & ~places.inside).any(axis=1)
        if write.out_of_bounds == "trap":
            self.traps |= outside
        if write.out_of_bounds == "undefined":
            self.breaks |= outside
        if write.negative == "undefined":
            self.breaks |= by_unit(places.active & places.negative).any(axis=1)
        sizes = state.types[dest.cache].sizes(state.symbols)
        strides = cases.dense_strides(sizes, range(len(sizes)))
        address = sum(
            c * step for c, step in zip(places.coordinates, strides, strict=True)
        )
        total = math.prod(sizes)
        keep = by_unit(places.active & places.inside)
        named = np.sort(np.where(keep, by_unit(address), total), axis=1)
        again = (named[:, 1:] == named[:, :-1]) & (named[:, 1:] < total)
        self.repeats |= again.any(axis=1)
        self.named.append((named, total))

    def choose(self, count: int, kind: str) -> list[int] | None:
        """At most `count` units; for kind `trap` the first one traps, None if
        none does; for kind `duplicate` they may name the same elements."""
        order = list(range(self.count))
        if kind == "trap":
            order.sort(key=lambda unit: not self.traps[unit])
        chosen: list[int] = []
        taken = [np.zeros(total + 1, bool) for _, total in self.named]
        for unit in order:
            if len(chosen) == count:
                break
            may_trap = kind == "trap" and not chosen
            if self.breaks[unit] or (self.traps[unit] and not may_trap):
                continue
            wanted = [named[unit] for named, _ in self.named]
            if self.repeats[unit] or any(
                known[names].any()
                for names, known in zip(wanted, taken, strict=True)
                if kind != "duplicate"
            ):
                continue
            for names, known in zip(wanted, taken, strict=True):
                known[names] = True
                known[-1] = False
            chosen.append(unit)
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
    for dims, names in program.token_arguments().items():
        wanted = dims[0] if isinstance(dims[0], int) else count
        total = 8 if kind == "duplicate" else 4 * wanted + 24
        inner = math.prod(dims[1:])
        values = {
            name: np.array(
                propose_indices(rng, program, name, total * inner),
                ARRAYS[program.types[name].dtype],
            ).reshape(total, *dims[1:])
            for name in names
        }
        sizes = dict(symbols)
        if isinstance(dims[0], str):
            sizes[dims[0]] = total
        candidates = Candidates(program, sizes, values)
        chosen = candidates.choose(wanted, kind)
        if chosen is None:
            chosen = candidates.choose(wanted, "distinct")
        elif kind == "trap":
            trapped = True
        if kind == "duplicate" and chosen:
            chosen = [rng.choice(chosen) for _ in range(wanted)]
        if isinstance(dims[0], int) and len(chosen) < wanted:
            return None
        rng.shuffle(chosen)
        if isinstance(dims[0], str):
            symbols[dims[0]] = len(chosen)
        made |= {name: array[chosen] for name, array in values.items()}
    return made if trapped or kind != "trap" else None
