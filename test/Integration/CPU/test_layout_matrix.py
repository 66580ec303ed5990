# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every layout by head dimension, page size, heads, types and alignment."""

import itertools

import pytest

from kvfuse_testing import abi
from kvfuse_testing.layouts import covering, model, run, text
from kvfuse_testing.layouts.model import Cell
from kvfuse_testing.programs import in_child

OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
SAMPLE = [
    Cell(*point)
    for point in covering.covering_sample(model.AXES, covering.pairs(model.AXES))
]


def check(compiler, cells, *options):
    """Compiles what the cells need and runs them."""
    signatures = run.signatures(cells)
    path = compiler.compile(text.module_text(signatures), *OPTIONS, *options)
    wrong = in_child(lambda: run.check_cells(abi.Library(path), cells))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("layout", model.LAYOUTS)
def test_sample(compiler, layout, fuse):
    """Every two values of two axes together, in one launch and as a chain."""
    cells = [cell for cell in SAMPLE if cell.layout == layout]
    check(compiler, cells, f"--fuse={fuse}")


@pytest.mark.long
@pytest.mark.parametrize("head_dim", model.HEAD_DIMS)
@pytest.mark.parametrize("types", model.TYPES, ids="-".join)
@pytest.mark.parametrize("layout", model.LAYOUTS)
def test_matrix(compiler, layout, types, head_dim):
    """All cells."""
    rest = itertools.product(model.PAGES, model.HEADS, model.OFFSETS)
    check(compiler, [Cell(layout, types, head_dim, *point) for point in rest])
