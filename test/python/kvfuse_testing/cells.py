# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types as raw cells: unsigned integers of 1, 2, 4 or 8 bytes.

A cell is the bit pattern of one element. Two NaN cells that came out of casts
count as equal (rule SC6); everything else is compared bit for bit.
"""

import numpy as np

#: Element type -> width of a cell in bytes.
WIDTHS = {
    "bf16": 2,
    "f16": 2,
    "f32": 4,
    "e4m3fn": 1,
    "e5m2": 1,
    "e4m3fnuz": 1,
    "e5m2fnuz": 1,
    "u8": 1,
    "i32": 4,
    "i64": 8,
}

#: Types whose every cell is a number.
INTEGERS = ("u8", "i32", "i64")

#: Element type with infinities -> (cell of +inf, cell of the NaN to use).
_IEEE = {
    "bf16": (0x7F80, 0x7FC0),
    "f16": (0x7C00, 0x7E00),
    "f32": (0x7F800000, 0x7FC00000),
    "e5m2": (0x7C, 0x7E),
}
#: Element type without: its only NaN, sign bit cleared where it has two.
_FINITE = {"e4m3fn": 0x7F, "e4m3fnuz": 0x80, "e5m2fnuz": 0x80}


def cell_type(dtype: str) -> np.dtype:
    """The unsigned NumPy type that holds a cell of `dtype`."""
    return np.dtype(f"u{WIDTHS[dtype]}")


def nan_mask(dtype: str, cells: np.ndarray) -> np.ndarray:
    """Which cells are NaNs: none of an integer type."""
    if dtype in INTEGERS:
        return np.zeros(cells.shape, bool)
    if dtype in ("e4m3fnuz", "e5m2fnuz"):
        return cells == _FINITE[dtype]
    magnitude = cells & cell_type(dtype).type((1 << (8 * WIDTHS[dtype] - 1)) - 1)
    if dtype == "e4m3fn":
        return magnitude == _FINITE[dtype]
    return magnitude > _IEEE[dtype][0]


def canonical(dtype: str, cells: np.ndarray) -> np.ndarray:
    """`cells` with every NaN replaced by one and the same NaN."""
    nan = _FINITE[dtype] if dtype in _FINITE else _IEEE[dtype][1]
    return np.where(nan_mask(dtype, cells), cell_type(dtype).type(nan), cells)
