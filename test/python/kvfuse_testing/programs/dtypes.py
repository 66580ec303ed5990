# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types, by their MLIR names, and the arrays that hold them.

Arrays are of raw cells (the bits of each element) for what caches and rows hold,
of signed integers for index values and of bools for masks.
"""

import numpy as np

from .. import casts, cells

#: Element types that kv.cast takes -> their names in module `cells`.
FLOATS = {
    casts.MLIR_TYPES[name]: name for name in ("f32", "bf16", "f16", "e4m3fn", "e5m2")
}
#: Element type -> NumPy type of an array of it.
ARRAYS = {dtype: cells.cell_type(name) for dtype, name in FLOATS.items()} | {
    name: np.dtype(array)
    for name, array in [
        ("i8", "u1"),
        ("i16", "u2"),
        ("i32", "i4"),
        ("i64", "i8"),
        ("i1", "?"),
    ]
}
#: Element types of index vectors and masks.
TOKEN_TYPES = ("i1", "i32", "i64")

_BITS = {"f32": "i32", "bf16": "i16", "f16": "i16", "i8": "f8E5M2"}


def same_width(dtype: str) -> str:
    """Another element type that `dtype` can be bitcast to."""
    return _BITS.get(dtype, "i8")


def canonical(dtype: str, array: np.ndarray, rounded: bool) -> np.ndarray:
    """`array` with one NaN for all, if it holds `rounded` floats (SC6)."""
    if not rounded or dtype not in FLOATS:
        return array
    return cells.canonical(FLOATS[dtype], array)
