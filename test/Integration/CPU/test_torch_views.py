# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches written through views in torch: the bytes are those of torch eager.

Slots are in no order; torch wraps the negative ones.
"""

import pytest
import torch
from kvfuse_testing.cases_torch import check, check_traps, rows

TOKENS, HEADS, DIM, PAGES, PAGE = 5, 3, 8, 6, 4
SLOTS = torch.tensor([2, 9, -10, 7, -1])
NEW = rows(TOKENS, HEADS, DIM, seed=1)


def flat(cache, slots, new):
    """Rows of a flat view of all pages."""
    cache.view(-1, HEADS, DIM)[slots] = new


def flat_rows(cache, slots, new):
    """The same with heads and columns in one dimension."""
    cache.view(-1, HEADS * DIM)[slots] = new.reshape(TOKENS, -1)


def part_of_rows(cache, slots, new):
    """Two heads of three."""
    cache[:, :, 1:].view(PAGES, PAGE, 2, DIM)[slots // PAGE, slots % PAGE] = new[:, 1:]


def permuted(cache, slots, new):
    """The pages seen head by head."""
    cache.permute(0, 2, 1, 3)[slots // PAGE, :, slots % PAGE] = new


def columns(cache, slots, new):
    """Two boxes of columns, the second one first."""
    page, offset = slots // PAGE, slots % PAGE
    cache[..., 6:][page, offset] = new[..., 6:]
    cache[..., :6][page, offset] = new[..., :6]


def some_pages(cache, slots, new):
    """The last pages, in which a negative slot wraps."""
    cache[2:].view(-1, HEADS, DIM)[slots] = new


def one_page(cache, slots, new):
    """Places in one page, which wrap there."""
    cache[-2][slots % PAGE] = new


def bits(cache, slots, new):
    """Integers of the same width."""
    places = cache.view(torch.int16).flatten(0, 1)
    places[slots] = new.view(torch.int16)


def half_a_page(cache, slots, new):
    """Pages seen as twice as many."""
    cache.view(2 * PAGES, PAGE // 2, HEADS, DIM)[slots // 2, slots % 2] = new


def unsqueezed(cache, slots, new):
    """A dimension of size 1 in front, and one between."""
    cache.unsqueeze(0).unsqueeze(3)[:, slots // PAGE, slots % PAGE] = new[None, :, None]


WRITES = (
    (flat, (1,)),
    (flat_rows, (1,)),
    (part_of_rows, (1,)),
    (permuted, (1,)),
    (columns, (2,)),
    (some_pages, (1,)),
    (one_page, (1,)),
    (bits, (1,)),
    (half_a_page, (1,)),
    (unsqueezed, (1,)),
)


def cache():
    """A cache that is not empty."""
    return rows(PAGES, PAGE, HEADS, DIM, seed=2)


@pytest.mark.parametrize(("write", "launches"), WRITES)
def test_view(compiler, write, launches):
    # No two tokens of a page of four may have one place.
    count = PAGE if write is one_page else TOKENS
    slots = torch.tensor([3, -3, 4, -2]) if write is one_page else SLOTS
    check(compiler, write, (cache(), slots, NEW[:count]), launches)


@pytest.mark.parametrize("write", [flat, some_pages])
def test_slot_outside(compiler, write):
    """A slot beyond the view is beyond the cache, and traps."""

    def valid(tensor, slots, new):
        write(tensor, slots[:4], new[:4])

    slots = torch.tensor([2, 9, 5, 7, PAGES * PAGE])
    check_traps(compiler, write, (cache(), slots, NEW), valid)


def scatter(tensor, places, new):
    """Rows by an index that is expanded to them."""
    tensor.scatter_(0, places[:, None].expand(-1, DIM), new)


def index_copy(tensor, places, new):
    """Rows along the second dimension of a view."""
    tensor[None].index_copy_(1, places, new[None])


@pytest.mark.parametrize("write", [scatter, index_copy])
def test_one_dimension(compiler, write):
    arguments = (rows(16, DIM, seed=3), torch.tensor([3, 0, 15]), rows(3, DIM))
    check(compiler, write, arguments, (1,))


def test_scatter_takes_no_negative_index(compiler):
    """SX4: torch raises; nothing is written where the index would wrap to."""

    def valid(tensor, places, new):
        scatter(tensor, places[:2], new[:2])

    arguments = (rows(16, DIM, seed=3), torch.tensor([3, 0, -1]), rows(3, DIM))
    check_traps(compiler, scatter, arguments, valid)
