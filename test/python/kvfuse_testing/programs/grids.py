# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes over other grids than that of their slots.

A draft is a write whose maps are over ("index", name) and ("row", i).
"""

import dataclasses
from collections.abc import Callable, Mapping

from .model import Count, Destination, Dim, Expr, Reshape, Spread, Type
from .readers import ReadBuilder
from .tokens import Style


@dataclasses.dataclass(frozen=True)
class Draft:
    """A write that is not an operation yet."""

    style: Style
    #: The shape of the grid.
    dims: tuple[Dim, ...]
    indices: tuple[str, ...]
    mask: str | None
    destinations: tuple[Destination, ...]


def substitute(expr: Expr, places: Mapping[Expr, Expr]) -> Expr:
    """`expr` with some of its leaves replaced."""
    if expr in places:
        return places[expr]
    return tuple(
        substitute(part, places) if isinstance(part, tuple) else part for part in expr
    )


def times(dim: Dim, factor: int) -> Dim:
    """A dimension that is `factor` times as long."""
    return dim * factor if isinstance(dim, int) else (dim, factor)


class GridBuilder(ReadBuilder):
    """Puts drafts on other grids."""

    def regrid(self, draft: Draft) -> Draft:
        """Sometimes the draft on another grid, with the same meaning."""
        if len(draft.dims) == 1 and self.uses("unit-dimension"):
            draft = self.with_unit(draft)
        elif self.extent(draft) and self.uses("heads-grid"):
            draft = self.with_heads(draft)
        if self.can_flatten(draft) and self.uses("flattened"):
            draft = self.flattened(draft)
        return draft

    @staticmethod
    def extent(draft: Draft) -> int:
        """The extent of the first row coordinate, if it is one for all."""
        extents = {(*dest.rows, 0)[0] for dest in draft.destinations}
        return extents.pop() if len(extents) == 1 else 0

    def mapped(
        self, draft: Draft, change: Callable[[str], str]
    ) -> tuple[dict[Expr, Expr], Draft]:
        """The draft with its index values and mask changed, and what that makes
        of the leaves of its maps."""
        changed = {name: change(name) for name in draft.indices}
        places = {("index", old): ("index", new) for old, new in changed.items()}
        return places, dataclasses.replace(
            draft,
            indices=tuple(changed.values()),
            mask=draft.mask and change(draft.mask),
        )

    def replaced(
        self, dest: Destination, places: Mapping[Expr, Expr], **fields: object
    ) -> Destination:
        """A destination with leaves of its map replaced."""
        mapped = tuple(substitute(expr, places) for expr in dest.map)
        return dataclasses.replace(dest, map=mapped, **fields)

    def with_unit(self, draft: Draft) -> Draft:
        """[T] -> [T, 1]."""
        dims = (*draft.dims, 1)

        def change(name: str) -> str:
            result = self.add("unit", Type.plain(self.program.types[name].dtype, dims))
            self.ops.append(Reshape(result, name))
            return result

        places, made = self.mapped(draft, change)
        destinations = tuple(
            self.replaced(dest, places, order=tuple(i + (i > 0) for i in dest.order))
            for dest in draft.destinations
        )
        return dataclasses.replace(made, dims=dims, destinations=destinations)

    def with_heads(self, draft: Draft) -> Draft:
        """[T] -> [T, H]: the first row coordinate becomes an index, 0 to H - 1."""
        rank, extent = len(draft.dims), self.extent(draft)
        dims = (*draft.dims, extent)
        like = draft.indices[0]

        def spread(name: str, added: tuple[int, ...]) -> str:
            result = self.add("grid", Type.plain(self.program.types[name].dtype, dims))
            self.ops.append(Spread(result, name, added, like))
            return result

        places, made = self.mapped(draft, lambda name: spread(name, (rank,)))
        numbers = self.add("numbers", Type.plain("i64", (extent,)))
        self.ops.append(Count(numbers))
        heads = spread(numbers, tuple(range(rank)))
        places[("row", 0)] = ("index", heads)

        def change(dest: Destination) -> Destination:
            rows = {("row", i): ("row", i - 1) for i in range(1, len(dest.rows))}
            return self.replaced(dest, places | rows, rows=dest.rows[1:])

        return dataclasses.replace(
            made,
            dims=dims,
            indices=(*made.indices, heads),
            destinations=tuple(map(change, draft.destinations)),
        )

    @staticmethod
    def can_flatten(draft: Draft) -> bool:
        """Has the grid two dimensions, which the values have in front?"""
        orders = (dest.order[:2] for dest in draft.destinations)
        return len(draft.dims) == 2 and set(orders) == {(0, 1)}

    def flattened(self, draft: Draft) -> Draft:
        """[A, B] -> [A * B]."""
        dims = (times(draft.dims[0], draft.dims[1]),)

        def change(name: str) -> str:
            made = self.program.types[name]
            hidden = (any(made.unknown[:2]), *made.unknown[2:])
            flat = Type(made.dtype, (*dims, *made.dims[2:]), hidden)
            result = self.add("flat", flat)
            self.ops.append(Reshape(result, name))
            if name in self.program.rounded:
                self.program.rounded.add(result)
            return result

        places, made = self.mapped(draft, change)
        destinations = tuple(
            self.replaced(
                dest,
                places,
                values=change(dest.values),
                order=(0, *(i - 1 for i in dest.order[2:])),
            )
            for dest in draft.destinations
        )
        return dataclasses.replace(made, dims=dims, destinations=destinations)
