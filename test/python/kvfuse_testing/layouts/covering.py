# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Covering samples of a product of axes."""

import itertools
import random
from collections.abc import Hashable, Iterable, Sequence

Point = tuple[Hashable, ...]


def tuples_of(point: Point, groups: Iterable[tuple[int, ...]]) -> set[Point]:
    """What a point covers: for each group of axes, its values there."""
    return {(group, tuple(point[axis] for axis in group)) for group in groups}


def all_tuples(axes: Sequence[Sequence[Hashable]], groups) -> set[Point]:
    """What there is to cover."""
    return {
        (group, values)
        for group in groups
        for values in itertools.product(*(axes[axis] for axis in group))
    }


def pairs(axes: Sequence) -> list[tuple[int, ...]]:
    """All pairs of axes."""
    return list(itertools.combinations(range(len(axes)), 2))


def covering_sample(
    axes: Sequence[Sequence[Hashable]],
    groups: Sequence[tuple[int, ...]],
    candidates: int = 40,
) -> list[Point]:
    """Points that have between them, for each group of axes, all combinations of
    values. Greedy: of random points with a missing combination, the one with the
    most. The seed is fixed."""
    rng = random.Random(0)
    missing = all_tuples(axes, groups)
    # In a fixed order, so that the sample is the same on every run.
    order = sorted(missing, key=repr)
    chosen = []
    for wanted in order:
        if wanted not in missing:
            continue
        tried = [complete(axes, wanted, rng) for _ in range(candidates)]
        best = max(tried, key=lambda point: len(tuples_of(point, groups) & missing))
        missing -= tuples_of(best, groups)
        chosen.append(best)
    return chosen


def complete(
    axes: Sequence[Sequence[Hashable]], wanted: tuple, rng: random.Random
) -> Point:
    """A random point with the wanted combination."""
    point = [rng.choice(axis) for axis in axes]
    for axis, value in zip(*wanted, strict=True):
        point[axis] = value
    return tuple(point)
