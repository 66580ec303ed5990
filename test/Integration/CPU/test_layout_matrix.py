# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every layout by head dimension, page size, heads, types and alignment."""

import itertools

import pytest

from kvfuse_testing import abi
from kvfuse_testing.branch_counts import COUNT, BranchCounts
from kvfuse_testing.compile import Compiler
from kvfuse_testing.layouts import covering, model, run, text
from kvfuse_testing.layouts.model import Cell
from kvfuse_testing.programs import in_child

OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
SAMPLE = [
    Cell(*point)
    for point in covering.covering_sample(model.AXES, covering.pairs(model.AXES))
]


def test_sample_covers():
    """The sample has what it promises."""
    points = [
        (c.layout, c.types, c.head_dim, c.page, c.heads, c.offset) for c in SAMPLE
    ]
    groups = covering.pairs(model.AXES)
    covered = set().union(*(covering.tuples_of(point, groups) for point in points))
    assert covered == covering.all_tuples(model.AXES, groups)


def check(compiler: Compiler, cells: list[Cell]) -> None:
    """Runs the cells: the right bytes, by the right branch."""
    module = text.module_text(run.signatures(cells))
    path = compiler.compile(module, *OPTIONS, COUNT)

    def work() -> list[str]:
        library = abi.Library(path)
        return run.check_cells(library, cells, BranchCounts(library, path))

    wrong = in_child(work)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("layout", model.LAYOUTS)
def test_sample(compiler, layout):
    """Every two values of two axes together."""
    check(compiler, [cell for cell in SAMPLE if cell.layout == layout])


@pytest.mark.parametrize("layout", model.LAYOUTS)
def test_chain(compiler, layout):
    """The same as a kernel for each step."""
    cells = [cell for cell in SAMPLE if cell.layout == layout]
    module = text.module_text(run.signatures(cells))
    path = compiler.compile(module, *OPTIONS, "--fuse=off")
    wrong = in_child(lambda: run.check_cells(abi.Library(path), cells))
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("head_dim", model.HEAD_DIMS)
@pytest.mark.parametrize("types", model.TYPES, ids="-".join)
@pytest.mark.parametrize("layout", model.LAYOUTS)
def test_matrix(compiler, layout, types, head_dim):
    """All cells."""
    rest = itertools.product(model.PAGES, model.HEADS, model.OFFSETS)
    check(compiler, [Cell(layout, types, head_dim, *point) for point in rest])
