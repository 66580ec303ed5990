# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The caches of a program: arguments, their parts, and their versions."""

import contextlib
import dataclasses
from collections.abc import Iterator

from .dtypes import FLOATS
from .layouts import LAYOUTS, PAGE_SIZES, Layout
from .model import Insert, Op, Part, Slice, Type
from .pools import BOXES, PARTS, Member, PoolShape, make_pool
from .rows import RowBuilder
from .tokens import Style


@dataclasses.dataclass(eq=False)
class Pool:
    """An argument that is one cache or several, while the program grows."""

    argument: str
    version: str


@dataclasses.dataclass(frozen=True, eq=False)
class Cache:
    """A cache: a pool, or one member of it."""

    pool: Pool
    layout: Layout
    part: Part | None = None


class CacheBuilder(RowBuilder):
    """Adds caches to a program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.pools: list[Pool] = []
        self.caches: list[Cache] = []
        #: Members of pools that no write has reached yet.
        self.waiting: list[Cache] = []
        #: The pools that may be written, if not all may be.
        self.allowed: list[Pool] | None = None
        #: Members that have been sliced already -> the slice.
        self.sliced: dict[Cache, str] = {}

    @contextlib.contextmanager
    def region(self) -> Iterator[list[Op]]:
        """Slices that are taken inside cannot be used afterwards, and those that
        were taken before may be of another version."""
        self.sliced.clear()
        with super().region() as ops:
            yield ops
        self.sliced.clear()

    # Choosing one

    def is_usable(self, cache: Cache, style: Style) -> bool:
        """Can a write of `style` reach the cache, and are its contents used?"""
        page = style.tokens.page
        return (
            cache.pool.argument not in self.program.unused
            and page in (0, cache.layout.page)
            and (self.allowed is None or cache.pool in self.allowed)
        )

    def cache(self, style: Style) -> Cache:
        """A cache to write: a new one, or one that is there."""
        waiting = [c for c in self.waiting if self.is_usable(c, style)]
        if waiting and self.chance(0.8):
            self.waiting.remove(waiting[0])
            return waiting[0]
        fitting = [c for c in self.caches if self.is_usable(c, style)]
        if fitting and (self.allowed is not None or self.chance(0.3)):
            return self.rng.choice(fitting)
        return self.new_cache(style)

    # New ones

    def sizes(self, style: Style) -> tuple[int, int, int]:
        """Page size, heads and head dimension."""
        page = style.tokens.page or self.rng.choice(PAGE_SIZES)
        return page, self.rng.choice([1, 2, 3]), self.rng.choice([1, 3, 4, 8])

    def new_cache(self, style: Style) -> Cache:
        """A new cache, which may have a pool around it."""
        sizes = self.sizes(style)
        for feature, kinds in [("pool", PARTS), ("boxes", BOXES)]:
            if self.uses(feature):
                return self.new_pool(make_pool(self.rng, kinds, *sizes))
        gap = self.rng.choice([1, 2, 5])
        layout = self.rng.choice(LAYOUTS)(*sizes, gap)
        return self.new_pool(PoolShape(layout.dims, (Member(layout),)))

    def new_pool(self, shape: PoolShape) -> Cache:
        """A new argument that is a pool; returns its first member."""
        dtype = self.rng.choice([*FLOATS, "i8"])
        symbol = f"N{len(self.program.types)}"
        dims = [symbol if dim == "N" else dim for dim in shape.dims]
        name = self.argument("cache", self.tensor(dtype, dims))
        layout = shape.members[0].layout
        self.program.versions[name] = [name]
        self.program.page_sizes[name] = layout.page if layout.paged else 1
        pool = Pool(name, name)
        made = [Cache(pool, member.layout, member.part) for member in shape.members]
        self.pools.append(pool)
        self.caches += made
        self.waiting += made[1:]
        return made[0]

    # Versions

    def used_pools(self) -> list[Pool]:
        """The pools whose contents are used."""
        return [p for p in self.pools if p.argument not in self.program.unused]

    def is_rounded(self, *names: str) -> bool:
        """May NaNs in one of the values have any encoding (SC6)?"""
        return not self.program.rounded.isdisjoint(names)

    def part_type(self, whole: str, part: Part) -> Type:
        """The type of a part of `whole`."""
        made = self.program.types[whole]
        dims = [
            made.dims[dim] if span.size is None else span.size
            for dim, span in enumerate(part)
            if span.kept
        ]
        return Type.plain(made.dtype, dims)

    def slice(self, prefix: str, whole: str, part: Part) -> str:
        """A part of `whole`."""
        result = self.add(prefix, self.part_type(whole, part))
        self.ops.append(Slice(result, whole, part))
        if self.is_rounded(whole):
            self.program.rounded.add(result)
        return result

    def contents(self, cache: Cache) -> str:
        """The cache as it is now; sometimes the other members of its pool are
        sliced beside it, for writes that follow."""
        if cache.part is None:
            return cache.pool.version
        if cache not in self.sliced:
            members = [cache]
            if self.uses("early-slice"):
                members = [c for c in self.caches if c.pool is cache.pool]
            for member in members:
                whole = member.pool.version
                self.sliced[member] = self.slice("part", whole, member.part)
        return self.sliced[cache]

    def new_contents(self, before: str, values: str, casts: tuple) -> str:
        """The name of the cache `before` after a write of `values`, which the
        region of the write casts."""
        result = self.add("cache", self.program.types[before])
        if casts or self.is_rounded(before, values):
            self.program.rounded.add(result)
        return result

    def set_contents(self, cache: Cache, contents: str) -> None:
        """From now on the cache has other contents."""
        pool = cache.pool
        if cache.part is not None:
            del self.sliced[cache]
            before, part = pool.version, contents
            contents = self.add("pool", self.program.types[before])
            self.ops.append(Insert(contents, part, before, cache.part))
            if self.is_rounded(before, part):
                self.program.rounded.add(contents)
        self.set_version(pool, contents)

    def set_version(self, pool: Pool, version: str) -> None:
        """From now on the pool is `version`."""
        pool.version = version
        if self.depth == 0:
            self.program.versions[pool.argument].append(version)
