# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The buffers of a cell, with canaries around all that is written."""

import dataclasses
import zlib
from collections.abc import Iterator, Sequence

from ..cases import GUARD, Case, CaseBuilder, View, dense_strides
from .model import Cell

#: Layers in a buffer of all layers, and the one that is written.
LAYERS, LAYER = 3, 1
#: Heads of the query in a row that holds it, too.
QUERY_HEADS = 3
#: Padding behind pages, in elements: 16 bytes of bf16, 8 bytes of a byte type.
PAGE_PADDING = 8
#: A stride of a dimension of size 1.
MEANINGLESS = 7


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a cell's function.

    The views of `case` are the caches, the rows, the slots and last the base, if
    there is one; `arguments` are the numbers of those that the function takes.
    """

    case: Case
    arguments: tuple[int, ...]
    scalars: tuple[int, ...]

    @property
    def num_members(self) -> int:
        """How many caches are written."""
        return (len(self.case.views) - 1) // 2

    @property
    def caches(self) -> tuple[View, ...]:
        """Where the members' caches are."""
        return self.case.views[: self.num_members]

    @property
    def rows(self) -> tuple[View, ...]:
        """Where the members' rows are."""
        return self.case.views[self.num_members : 2 * self.num_members]

    @property
    def slots(self) -> View:
        """Where the slots are."""
        return self.case.views[2 * self.num_members]


def padded_row(head_dim: int) -> int:
    """The next multiple of 16 above, so that there is always padding."""
    return (head_dim // 16 + 1) * 16


def span(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last one."""
    return 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))


def cell_slots(cell: Cell) -> list[int]:
    """The edges, a wrapped slot, one in the middle, and where they are skipped
    slots outside. All that are inside are different."""
    total, page = cell.num_slots, cell.page
    inside = [page - 1, total - 2, 0, page, -1, total // 2 + 1, 1 - total]
    different: dict[int, int] = {}
    for slot in inside:
        different.setdefault(slot % total, slot)
    slots = list(different.values())
    if cell.facts.out_of_bounds == "skip":
        slots[1:1] = [total, -total - 1]
        slots.append(2**31 - 1 if cell.facts.slots == "i32" else 2**40 + 17)
    return slots


class Storage:
    """Lays out the buffers of one cell."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.builder = CaseBuilder(zlib.crc32(cell.name.encode()))
        self.is_cast = cell.types[0] != cell.types[1]

    def shift(self, what: str) -> int:
        """By how much the first element of `what` is moved."""
        return self.cell.offset if self.cell.facts.shifted == what else 0

    def add(self, what: str, sizes: Sequence[int], strides: Sequence[int]) -> View:
        """A view of a new buffer of its own, guards around it."""
        start = GUARD + self.shift(what)
        count = start + span(sizes, strides) + GUARD
        if what == "rows":
            number = self.builder.buffer(self.cell.types[0], count, "rows")
        else:
            dtype = self.cell.types[1]
            number = self.builder.buffer(dtype, count, "canary", self.is_cast)
        return View(number, start, tuple(sizes), tuple(strides))

    # -- Caches

    def cache_sizes(self, member: str) -> tuple[int, ...]:
        """The sizes of a member's cache."""
        cell = self.cell
        dim, heads = cell.member_dim(member), cell.member_heads(member)
        sizes = {
            "hnd": (cell.num_pages, heads, cell.page, dim),
            "nhd": (cell.num_pages, cell.page, heads, dim),
            "flat": (cell.num_slots, heads, dim),
        }[cell.facts.map]
        return tuple(size for size in sizes if size is not None)

    def own_cache(self, member: str) -> View:
        """A cache in a buffer of its own."""
        sizes = self.cache_sizes(member)
        order = range(len(sizes))
        if self.cell.layout == "permuted":
            order = (1, 0, 2, 3)
        strides = dense_strides(sizes, order)
        if self.cell.layout == "padded":
            row = padded_row(sizes[-1])
            page = sizes[1] * sizes[2] * row + PAGE_PADDING
            strides = (page, sizes[2] * row, row, 1)
        return self.add("caches", sizes, strides)

    def base_sizes(self) -> tuple[int, ...]:
        """The sizes of the buffer that holds K and V."""
        cell = self.cell
        dims = [cell.member_dim(member) for member in cell.facts.members]
        if cell.layout.startswith("packed"):
            return (cell.num_pages, cell.page, cell.heads, sum(dims))
        page = (cell.heads, cell.page, dims[0])
        if cell.layout.startswith("pool"):
            return (cell.num_pages, 2, *page)
        return (LAYERS, 2, cell.num_pages, *page)

    def slices(self, base: View) -> Iterator[View]:
        """The caches in the base."""
        columns = 0
        for place, member in enumerate(self.cell.facts.members):
            sizes, strides = self.cache_sizes(member), base.strides
            if self.cell.layout.startswith("packed"):
                start = columns
                columns += sizes[-1]
            elif self.cell.layout.startswith("pool"):
                start = place * strides[1]
                strides = (strides[0], *strides[2:])
            else:
                start = LAYER * strides[0] + place * strides[1]
                strides = strides[2:]
            yield View(base.buffer, base.offset + start, sizes, strides)

    # -- Rows

    def row_sizes(self, member: str, tokens: int) -> tuple[int, ...]:
        """The sizes of a member's rows."""
        heads = self.cell.member_heads(member)
        return (
            tokens,
            *([] if heads is None else [heads]),
            self.cell.member_dim(member),
        )

    def own_rows(self, member: str, tokens: int) -> View:
        """Rows in a buffer of their own."""
        sizes = self.row_sizes(member, tokens)
        strides = dense_strides(sizes, range(len(sizes)))
        if self.cell.facts.rows == "padded":
            row = padded_row(sizes[-1])
            strides = (sizes[1] * row, row, 1)
        return self.add("rows", sizes, strides)

    def qkv_rows(self, tokens: int) -> Iterator[View]:
        """Columns of rows that hold a query in front of all members."""
        cell = self.cell
        shapes = [self.row_sizes(member, tokens) for member in cell.facts.members]
        widths = [dense_strides(sizes, range(len(sizes)))[0] for sizes in shapes]
        column = QUERY_HEADS * cell.head_dim
        whole = self.add(
            "rows", (tokens, column + sum(widths)), (column + sum(widths), 1)
        )
        for sizes, width in zip(shapes, widths, strict=True):
            inner = dense_strides(sizes, range(len(sizes)))[1:]
            strides = (whole.strides[0], *inner)
            yield View(whole.buffer, whole.offset + column, sizes, strides)
            column += width

    def meaningless(self, view: View) -> View:
        """The view with an odd stride where only one coordinate is possible."""
        strides = zip(view.sizes[:-1], view.strides[:-1], strict=True)
        made = [MEANINGLESS if size == 1 else stride for size, stride in strides]
        return dataclasses.replace(view, strides=(*made, view.strides[-1]))

    def call(self) -> Call:
        """All of it."""
        cell, views = self.cell, self.builder.views
        members, slots = cell.facts.members, cell_slots(cell)
        base = None
        if cell.layout.startswith(("pool", "packed", "layers")):
            sizes = self.base_sizes()
            base = self.add("caches", sizes, dense_strides(sizes, range(len(sizes))))
            views += self.slices(base)
        else:
            views += map(self.own_cache, members)
        if cell.facts.rows == "qkv":
            views += self.qkv_rows(len(slots))
        else:
            views += [self.own_rows(member, len(slots)) for member in members]
        self.builder.slots(cell.facts.slots, slots, 2 if cell.layout == "padded" else 1)
        others = range(len(members), len(views))
        if cell.facts.base:
            views.append(base)
        if cell.facts.odd_units:
            views[:] = map(self.meaningless, views)
        if not cell.facts.base:
            return Call(self.builder.build(), tuple(range(len(views))), ())
        scalars = (LAYER,) if cell.facts.base == "layers" else ()
        return Call(self.builder.build(), (len(views) - 1, *others), scalars)
