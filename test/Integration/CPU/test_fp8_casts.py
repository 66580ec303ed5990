# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cast of values alone, for every 16-bit input and all boundaries of f32.

Rules SC1 to SC3 and SC6. `--fuse=on` runs the cast inside the write, and
`--fuse=off` as a kernel of its own.
"""

import functools

import numpy as np
import pytest
import torch

from kvfuse_testing import abi, cases, casts, cells

FUSE = ("on", "off")
#: Rows of 256 elements: all of a 16-bit type; boundaries of f32 and a million more.
ROWS = {"bf16": 256, "f16": 256, "f32": (cases.F32_BOUNDARIES + (1 << 20)) // casts.ROW}


def load(compiler, text: str, fuse: str) -> abi.Library:
    path = compiler.compile(text, "--target=cpu", "--emit=shared", f"--fuse={fuse}")
    return abi.Library(path)


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """The cells as a tensor of integers; the callee sees only the address."""
    return torch.from_numpy(array)


@functools.cache
def source_cells(dtype: str) -> np.ndarray:
    return cases.boundary_cells(dtype, 2, ROWS[dtype] * casts.ROW)


@functools.cache
def expected_cells(cast: casts.Cast) -> np.ndarray:
    """What the cast has to give, NaNs made equal: torch's where it has the mode."""
    oracle = casts.by_torch if casts.torch_has(cast) else casts.by_ml_dtypes
    return cells.canonical(cast.result, oracle(cast, source_cells(cast.source)))


def check_cells(cast: casts.Cast, actual: np.ndarray) -> None:
    """Compares with the oracle and names the first inputs that went wrong."""
    expected = expected_cells(cast)
    got = cells.canonical(cast.result, actual)
    wrong = np.flatnonzero(got != expected)
    shown = [
        f"{int(source_cells(cast.source)[i]):#x} gave {int(got[i]):#x}, "
        f"not {int(expected[i]):#x}"
        for i in wrong[:5]
    ]
    assert not wrong.size, f"{wrong.size} inputs wrong: {shown}"


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("cast", casts.FP8_CASTS + casts.WIDE_CASTS, ids=str)
def test_cast(compiler, cast, fuse):
    rows = ROWS[cast.source]
    case = casts.cast_case(cast, rows)
    out, source, slots = case.make()
    library = load(compiler, casts.module_text(cast), fuse)
    library.call(
        "cast",
        as_tensor(out).view(rows, casts.ROW),
        as_tensor(source).view(rows, casts.ROW),
        as_tensor(slots),
    )
    check_cells(cast, out)


@pytest.mark.parametrize(
    "cast", [c for c in casts.FP8_CASTS if casts.torch_has(c)], ids=str
)
def test_oracles_agree(cast):
    """ml_dtypes and torch give the same cells where torch has the mode (SC4)."""
    other = casts.by_ml_dtypes(cast, source_cells(cast.source))
    check_cells(cast, other)


SCALARS = """
func.func public @cast(%out: tensor<?xf8E4M3FN> {bufferization.writable = true},
                       %x: tensor<?xbf16>, %i: tensor<?xi64>) -> tensor<?xf8E4M3FN> {
  %0 = kv.write at(%i : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : tensor<?xbf16> into %out : tensor<?xf8E4M3FN>
        map(affine_map<(t, s) -> (s)>) {
    ^bb0(%e: bf16):
      %c = kv.cast %e saturating : bf16 to f8E4M3FN
      kv.yield %c : f8E4M3FN
    }
  return %0 : tensor<?xf8E4M3FN>
}
"""


@pytest.mark.parametrize("fuse", FUSE)
def test_rows_of_one_element(compiler, fuse):
    """Rows without dimensions of their own: one element for each token."""
    cast = casts.Cast("bf16", "e4m3fn", saturating=True)
    source = source_cells("bf16")
    out = cases.canary_cells("e4m3fn", 1, source.size)
    slots = torch.arange(source.size)
    load(compiler, SCALARS, fuse).call("cast", as_tensor(out), as_tensor(source), slots)
    check_cells(cast, out)
