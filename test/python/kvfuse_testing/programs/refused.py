# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to spoil a program so that the compiler must refuse it."""

import random
from collections.abc import Callable

from .dtypes import FLOATS, same_width
from .function import Function
from .model import Bitcast, Destination, Type, Write


def written_cache(program: Function, rng: random.Random) -> str:
    """An argument of the program that is written, and whose contents are used."""
    return rng.choice([n for n in program.versions if n not in program.unused])


def return_old_cache(program: Function, rng: random.Random) -> None:
    """Returns the contents that a cache had before its writes."""
    program.results.append(written_cache(program, rng))


def read_old_cache(program: Function, rng: random.Random) -> None:
    """Reads, behind all writes, an older version of a cache: not the last but
    one, which holds the same if the last write is a repetition."""
    first, *others = program.versions[written_cache(program, rng)]
    old = rng.choice([first, *others[:-2]])
    made = program.types[old]
    program.types["old"] = made.of(same_width(made.dtype))
    program.ops.append(Bitcast("old", old))
    program.results.append("old")


def write_undeclared(program: Function, rng: random.Random) -> None:
    """Writes an argument that is not declared mutated."""
    program.undeclared.add(written_cache(program, rng))


def write_own_contents(program: Function, rng: random.Random) -> None:
    """Writes a cache with its own slots as rows."""
    heads, head_dim = rng.choice([1, 2]), rng.choice([3, 8])
    cache = Type(rng.choice(list(FLOATS)), ("S", heads, head_dim), (False,) * 3)
    program.types |= {"own": cache, "own_after": cache}
    program.types["own_slots"] = Type("i64", ("S",), (False,))
    program.arguments += ["own", "own_slots"]
    program.versions["own"] = ["own", "own_after"]
    where = (("dim", 1), ("dim", 2), ("dim", 3))
    rows = (heads, head_dim)
    dest = Destination("own_after", "own", "own", where, (0, 1, 2), rows)
    program.ops.append(Write(("own_slots",), (dest,), "wrap", "trap"))
    program.results.append("own_after")


#: How to spoil a program -> the reason that it is refused for.
SPOILERS: dict[Callable[[Function, random.Random], None], str] = {
    return_old_cache: "old-cache-live",
    read_old_cache: "old-cache-live",
    write_undeclared: "cache-copied",
    write_own_contents: "alias-value",
}
