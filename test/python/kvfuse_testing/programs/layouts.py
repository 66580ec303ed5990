# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How caches are laid out, and where the row of a token is in them.

Expressions are those of module `model`, but of ("row", i), ("index", name) and
the symbols below instead of ("dim", i).
"""

import dataclasses

from .model import Dim, Expr

#: Page, offset and slot of a token in a layout's coordinates.
PAGE, OFFSET, SLOT = ("page",), ("offset",), ("slot",)
#: A constant index, which a write replaces by a number.
SELECTOR = ("selector",)
PAGE_SIZES = (1, 3, 4, 16)


def row(i: int, offset: int = 0) -> Expr:
    """Row coordinate `i`, shifted."""
    expr: Expr = ("row", i)
    return ("+", expr, ("number", offset)) if offset else expr


@dataclasses.dataclass(frozen=True)
class Layout:
    """One layout."""

    page: int
    #: Sizes of the cache; "N" stands for its number of pages, or of slots.
    dims: tuple[Dim, ...]
    #: Extents of the row coordinates.
    rows: tuple[int, ...]
    #: Coordinates over PAGE, OFFSET, SLOT, SELECTOR and rows.
    coordinates: tuple[Expr, ...]
    box: bool = False

    @property
    def paged(self) -> bool:
        """Has the cache pages, or only slots?"""
        return SLOT not in self.coordinates


def _hnd(p: int, h: int, d: int, gap: int) -> Layout:
    return Layout(p, ("N", h, p, d), (h, d), (PAGE, row(0), OFFSET, row(1)))


def _nhd(p: int, h: int, d: int, gap: int) -> Layout:
    return Layout(p, ("N", p, h, d), (h, d), (PAGE, OFFSET, row(0), row(1)))


def _flat(p: int, h: int, d: int, gap: int) -> Layout:
    return Layout(p, ("N", h, d), (h, d), (SLOT, row(0), row(1)))


def _one_head(p: int, h: int, d: int, gap: int) -> Layout:
    return Layout(p, ("N", p, d), (d,), (PAGE, OFFSET, row(0)))


def _one_flat_head(p: int, h: int, d: int, gap: int) -> Layout:
    return Layout(p, ("N", d), (d,), (SLOT, row(0)))


def _selector(p: int, h: int, d: int, gap: int) -> Layout:
    coordinates = (PAGE, SELECTOR, row(0), OFFSET, row(1))
    return Layout(p, ("N", 2, h, p, d), (h, d), coordinates)


def _columns(p: int, h: int, d: int, gap: int) -> Layout:
    coordinates = (SLOT, row(0, offset=gap))
    return Layout(p, ("N", gap + d + 2), (d,), coordinates, box=True)


def _paged_columns(p: int, h: int, d: int, gap: int) -> Layout:
    coordinates = (PAGE, row(0), OFFSET, row(1, offset=gap))
    return Layout(p, ("N", h, p, gap + d + 1), (h, d), coordinates, box=True)


def _dim_major(p: int, h: int, d: int, gap: int) -> Layout:
    return Layout(p, ("N", h, d, p), (h, d), (PAGE, row(0), row(1), OFFSET))


def _split_dim(p: int, h: int, d: int, gap: int) -> Layout:
    x = 2 if d % 2 == 0 else 1
    major, minor = ("floordiv", row(1), ("number", x)), ("mod", row(1), ("number", x))
    coordinates = (PAGE, row(0), major, OFFSET, minor)
    return Layout(p, ("N", h, d // x, p, x), (h, d), coordinates)


def _byte_rows(p: int, h: int, d: int, gap: int) -> Layout:
    width = d + gap
    place = ("+", ("*", OFFSET, ("number", width)), row(0))
    return Layout(p, ("N", p * width), (d,), (PAGE, place))


def _static_cache(p: int, h: int, d: int, gap: int) -> Layout:
    coordinates = (row(0), row(1), SLOT, row(2))
    return Layout(p, (2, h, "N", d), (2, h, d), coordinates)


#: Layouts by page size, heads, head dimension, and a number of columns. The
#: common ones stand here more than once.
LAYOUTS = [
    *([_hnd, _nhd] * 3),
    *([_flat, _one_head] * 2),
    _one_flat_head,
    _selector,
    _columns,
    _paged_columns,
    _dim_major,
    _split_dim,
    _byte_rows,
    _static_cache,
]
#: Those with the pages first and rows that fill the last dimension.
PAGED = [_hnd, _hnd, _nhd, _one_head]
