# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call leaves in its buffers, row by row in NumPy and ml_dtypes.

It shares no code with kvfuse, and follows rules SX2, SX4, SX5, SC1 and SC2.
"""

import numpy as np

from .. import casts
from ..cases import View
from .model import Cell
from .storage import Call


def view_array(arrays: list[np.ndarray], view: View) -> np.ndarray:
    """The view as an array of the buffer's memory."""
    cells = arrays[view.buffer]
    strides = [stride * cells.itemsize for stride in view.strides]
    return np.lib.stride_tricks.as_strided(cells[view.offset :], view.sizes, strides)


def row_index(cell: Cell, shape: tuple[int, ...], slot: int) -> tuple | None:
    """The index of a slot's row in a member's cache, None if it is outside."""
    if cell.facts.map == "flat":
        row = wrapped(slot, shape[0])
        return None if row is None else (row,)
    page, within = wrapped(slot // cell.page, shape[0]), slot % cell.page
    if page is None:
        return None
    has_heads = len(shape) == 4
    if cell.facts.map == "hnd" and has_heads:
        return (page, slice(None), within)
    return (page, within)


def wrapped(coordinate: int, size: int) -> int | None:
    """Negative coordinates count from the end; None if it is outside."""
    if coordinate < 0:
        coordinate += size
    return coordinate if 0 <= coordinate < size else None


def convert(cell: Cell, rows: np.ndarray) -> np.ndarray:
    """The cells that are stored."""
    values, cache = cell.types
    if values == cache:
        return rows
    return casts.by_ml_dtypes(casts.Cast(values, cache), np.ascontiguousarray(rows))


def read_slots(cell: Cell, call: Call, arrays: list[np.ndarray]) -> list[int]:
    """The slots, which the buffer holds as unsigned cells, with their signs."""
    signed = np.dtype(f"<{cell.facts.slots.replace('32', '4').replace('64', '8')}")
    return view_array(arrays, call.slots).view(signed).tolist()


def expected(cell: Cell, call: Call) -> list[np.ndarray]:
    """The buffers afterwards, the writes done one after the other."""
    arrays = call.case.make()
    slots = read_slots(cell, call, arrays)
    for cache_view, rows_view in zip(call.caches, call.rows, strict=True):
        cache = view_array(arrays, cache_view)
        rows = convert(cell, view_array(arrays, rows_view))
        for token, slot in enumerate(slots):
            index = row_index(cell, cache.shape, slot)
            if index is not None:
                cache[index] = rows[token]
    return arrays
