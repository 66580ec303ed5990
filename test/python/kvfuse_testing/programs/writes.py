# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds layers of writes to a program."""

import dataclasses
from collections.abc import Sequence

from .caches import Cache
from .grids import Draft, GridBuilder, substitute
from .layouts import Layout, row
from .model import Destination, Expr, Write
from .tokens import Style


def index_names(expr: Expr) -> list[str]:
    """The index vectors in `expr`, by name."""
    if expr[0] == "index":
        return [expr[1]]
    return [
        name for part in expr if isinstance(part, tuple) for name in index_names(part)
    ]


def resolve(expr: Expr, indices: Sequence[str], rank: int) -> Expr:
    """`expr` over the dimensions (grid of `rank`, index values, row) of a write."""
    match expr:
        case ("index", name):
            return ("dim", rank + indices.index(name))
        case ("row", number):
            return ("dim", rank + len(indices) + number)
        case ("number", _):
            return expr
        case (operator, *parts):
            return (operator, *(resolve(part, indices, rank) for part in parts))
    raise ValueError(expr)


class WriteBuilder(GridBuilder):
    """Adds writes to a program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        #: The write that was added last, and the cache of its last destination.
        self.last: tuple[Write, Cache] | None = None

    # Destinations

    def order(self, layout: Layout, rank: int) -> list[int]:
        """Which of (grid of `rank`, row coordinates) the values' dimensions are."""
        order = list(range(rank + len(layout.rows)))
        if self.chance(0.3):
            self.rng.shuffle(order)
        if self.chance(0.1):
            # A row coordinate that the values do not have takes its extent from
            # the cache.
            places = list(zip(layout.coordinates, layout.dims, strict=True))
            whole = [
                i + rank
                for i, extent in enumerate(layout.rows)
                if (row(i), extent) in places
            ]
            order.remove(self.rng.choice([*range(rank), *whole]))
        return order

    def destination(self, style: Style, cache: Cache) -> Destination:
        """A write of `cache`, its map over index vectors by name."""
        layout, grid = cache.layout, style.tokens.dims
        order = self.order(layout, len(grid))
        dims = [(*grid, *layout.rows)[i] for i in order]
        dtype = self.program.types[cache.pool.argument].dtype
        values, casts = self.rows(dtype, dims)
        places = self.places(style, layout)
        # The text (s mod 1) * W + r is read as r, which would have to cover the rows.
        bare = layout.page == 1 and style.mode == "inline"
        before = self.contents(cache)
        return Destination(
            self.new_contents(before, values, casts),
            before,
            values,
            tuple(substitute(expr, places) for expr in layout.coordinates),
            tuple(order),
            layout.rows,
            layout.box or bare or self.chance(0.05),
            casts,
        )

    # Writes

    def write(
        self, style: Style, pending: Sequence[tuple[Cache, Destination]]
    ) -> None:
        """One kv.write of destinations, and the caches after it."""
        destinations = tuple(dest for _, dest in pending)
        names: dict[str, None] = {}
        for dest in destinations:
            for expr in dest.map:
                names |= dict.fromkeys(index_names(expr))
        indices = list(names) or [style.tokens.first]
        if self.chance(0.2):
            self.rng.shuffle(indices)
        grid = style.tokens.dims
        draft = Draft(style, grid, tuple(indices), style.mask, destinations)
        made = self.finish(self.regrid(draft), len(indices))
        self.ops.append(made)
        for cache, dest in pending:
            self.set_contents(cache, dest.result)
        self.last = (made, pending[-1][0])

    def finish(self, draft: Draft, slots: int) -> Write:
        """The operation; `slots` of its index values are computed from slots."""
        indices, style = draft.indices, draft.style

        def resolved(dest: Destination) -> Destination:
            exprs = (resolve(expr, indices, len(draft.dims)) for expr in dest.map)
            return dataclasses.replace(dest, map=tuple(exprs))

        where = style.where and (self.rng.randrange(slots), *style.where)
        return Write(
            indices,
            tuple(map(resolved, draft.destinations)),
            style.negative,
            style.out_of_bounds,
            draft.mask,
            where,
        )

    def layer(self, style: Style) -> None:
        """The writes of one layer, with readers between."""
        count = self.rng.choice([1, 2, 2, 3, 3, 4])
        pending: list[tuple[Cache, Destination]] = []
        together = self.chance(0.12)
        for _ in range(count):
            cache = self.cache(style)
            if any(other.pool is cache.pool for other, _ in pending):
                continue
            pending.append((cache, self.destination(style, cache)))
            if not together:
                self.write(self.varied(style), pending)
                pending = []
                self.read()
        if pending:
            self.write(style, pending)

    def varied(self, style: Style) -> Style:
        """`style`, rarely with another policy."""
        if self.chance(0.95):
            return style
        return dataclasses.replace(
            style, out_of_bounds=self.rng.choice(["trap", "skip"])
        )

    def repeat(self) -> None:
        """The last write's last destination once more, to the same slots."""
        write, cache = self.last
        old = write.destinations[-1]
        before = self.contents(cache)
        result = self.new_contents(before, old.values, old.casts)
        again = dataclasses.replace(old, result=result, cache=before)
        self.ops.append(dataclasses.replace(write, destinations=(again,)))
        self.set_contents(cache, result)

    def unused_write(self) -> None:
        """A write to a cache that nobody uses, unless it may trap."""
        style = self.style()
        if style.out_of_bounds == "trap":
            return
        cache = self.new_cache(style)
        self.program.unused.add(cache.pool.argument)
        self.write(style, [(cache, self.destination(style, cache))])
