# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the compiled functions on the cells, and compares all bytes."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .. import layers
from ..abi import KernelError, Library
from ..branch_counts import BranchCounts
from ..programs.calls import describe
from .branches import expected_branch
from .model import Cell, Signature
from .oracle import expected
from .storage import Call, Storage

#: Where buffers start, as device memory and allocators of tensors have it.
ALIGNMENT = 64


def signatures(cells: Iterable[Cell]) -> list[Signature]:
    """The functions that the cells need, each once."""
    return list(dict.fromkeys(cell.signature for cell in cells))


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy that starts at a multiple of ALIGNMENT."""
    memory = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    made = memory[start : start + array.nbytes].view(array.dtype)
    made[:] = array
    return made


def call_cell(library: Library, cell: Cell, call: Call) -> list[np.ndarray]:
    """The buffers after the call."""
    arrays = [aligned(array) for array in call.case.make()]
    views = [call.case.views[number] for number in call.arguments]
    arguments = [describe(view, arrays[view.buffer]) for view in views]
    library.call(cell.signature.name, *arguments, *call.scalars)
    return arrays


def wrong_bytes(library: Library, cell: Cell) -> Iterator[str]:
    """What differs from the oracle in the buffers of a cell."""
    call = Storage(cell).call()
    try:
        actual = call_cell(library, cell, call)
    except KernelError as error:
        yield str(error)
        return
    yield from layers.differences(call.case, actual, expected(cell, call))


def wrong_branch(counts: BranchCounts, cell: Cell) -> Iterator[str]:
    """What ran since the last cell, if it is not the branch that had to."""
    taken = counts.take()
    branch = expected_branch(cell, Storage(cell).call())
    if taken != {branch: 1}:
        yield f"{taken} ran instead of {branch}"


def check_cells(
    library: Library, cells: Sequence[Cell], counts: BranchCounts | None = None
) -> list[str]:
    """What is wrong with the cells, their branches too if there are counts; run it
    in a process of its own."""
    wrong = []
    for cell in cells:
        lines = [*wrong_bytes(library, cell)]
        if counts is not None:
            lines += wrong_branch(counts, cell)
        wrong += [f"{cell.name}: {line}" for line in lines]
    return wrong
