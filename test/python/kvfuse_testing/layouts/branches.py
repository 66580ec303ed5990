# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which branch has to do the writes of a cell, from how its buffers lie.

A thread moves a group of n elements, a power of two, from the rows to a cache. It
may where each row starts, in rows and cache, at a multiple of the group's bytes.
Of the kernels of a function the first one runs whose groups may be moved so for
all of its caches.
"""

from collections.abc import Iterator

from ..cases import Case, View
from ..cells import WIDTHS
from .model import Cell
from .storage import Call

#: Bytes of the widest access, and those of a narrower one.
WIDEST, NARROWER = 16, 4
BY_ELEMENT, APART = "by element", "apart"


def access_name(size: int) -> str:
    """The branch whose accesses have `size` bytes."""
    return f"{size} bytes"


def is_aligned(case: Case, view: View, elements: int) -> bool:
    """Does each row start at a multiple of `elements`? Buffers do. Where there is one
    coordinate only, its stride says nothing."""
    strides = zip(view.sizes[:-1], view.strides[:-1], strict=True)
    steps = [stride for size, stride in strides if size > 1]
    return all(step % elements == 0 for step in (view.offset, *steps))


def natural_elements(head_dim: int) -> int:
    """The largest power of two that divides the head dimension."""
    return head_dim & -head_dim


def group_sizes(cell: Cell) -> Iterator[tuple[int, list[int]]]:
    """The kernels with groups: bytes of an access in the wider type, and elements in
    the group of each member."""
    width = max(map(WIDTHS.get, cell.types))
    dims = [cell.member_dim(member) for member in cell.facts.members]
    widest = [min(WIDEST // width, dim) for dim in dims]
    yield WIDEST, widest
    narrower = []
    for dim, most in zip(dims, widest, strict=True):
        natural = natural_elements(dim)
        narrower.append(natural if natural < most else NARROWER // width)
    yield max(narrower) * width, narrower


def expected_branch(cell: Cell, call: Call) -> str:
    """The name of the branch."""
    for size, groups in group_sizes(cell):
        places = zip(groups, call.caches, call.rows, strict=True)
        if all(
            is_aligned(call.case, view, elements)
            for elements, *views in places
            for view in views
        ):
            return access_name(size)
    return BY_ELEMENT
