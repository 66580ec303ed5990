# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which branch has to do the writes of a cell, from how its buffers lie.

A thread moves a group of n elements, a power of two, from the rows to a cache. It
may where each row starts, in rows and cache, at a multiple of the group's bytes.
Of the kernels of a function the first one runs whose groups may be moved so for
all of its caches.
"""

from ..cases import View
from ..cells import WIDTHS
from .model import Cell
from .storage import Call

#: Bytes of the widest access, and of a narrower one.
WIDEST, NARROWER = 16, 4
BY_ELEMENT = "by element"

#: Elements in the group of each member.
Groups = tuple[int, ...]


def branch_name(width: int, groups: Groups) -> str:
    """The branch whose groups have elements of `width` bytes: how many bytes they
    are, member by member if they differ."""
    if max(groups) == 1:
        return BY_ELEMENT
    sizes = [str(width * elements) for elements in groups]
    return "/".join(sizes if len(set(sizes)) > 1 else sizes[:1]) + " bytes"


def is_aligned(view: View, elements: int) -> bool:
    """Does each row start at a multiple of `elements`? Buffers do. Where there is one
    coordinate only, its stride says nothing."""
    strides = zip(view.sizes[:-1], view.strides[:-1], strict=True)
    steps = [stride for size, stride in strides if size > 1]
    return all(step % elements == 0 for step in (view.offset, *steps))


def candidates(head_dims: list[int], width: int) -> tuple[Groups, Groups]:
    """Wide groups, 16 bytes unless the row is shorter, and narrower ones: as rows
    without gaps are aligned, or 4 bytes if they are so for the wide ones."""
    most = WIDEST // width
    widest = tuple(min(most, 1 << dim.bit_length() - 1) for dim in head_dims)
    natural = tuple(min(most, dim & -dim) for dim in head_dims)
    if natural != widest:
        return widest, natural
    return widest, tuple(min(n, max(NARROWER // width, 1)) for n in widest)


def expected_branch(cell: Cell, call: Call) -> str:
    """The name of the branch."""
    # A group has as many elements in the rows as in the cache.
    width = max(map(WIDTHS.__getitem__, cell.types))
    dims = [cell.member_dim(member) for member in cell.facts.members]
    for groups in candidates(dims, width):
        places = zip(groups, call.caches, call.rows, strict=True)
        if all(
            is_aligned(view, elements) for elements, *views in places for view in views
        ):
            return branch_name(width, groups)
    return BY_ELEMENT
