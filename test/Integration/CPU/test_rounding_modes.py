# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`arith.truncf` with a rounding mode, in a chain that is refused for it (SC1).

The expected value is looked up in the sorted list of all values of the type.
"""

import ml_dtypes
import numpy as np
import pytest
import torch

from kvfuse_testing import abi

#: Element type -> its NumPy type, and the type whose values are cast to it.
TYPES = {
    "bf16": (ml_dtypes.bfloat16, "f32", np.float32),
    "f16": (np.float16, "f32", np.float32),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, "f32", np.float32),
    "f8E5M2": (ml_dtypes.float8_e5m2, "f16", np.float16),
    "f8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, "f32", np.float32),
}
MODES = ["toward_zero", "upward", "downward", "to_nearest_away"]

PROGRAM = """
func.func @main(%c: tensor<?x{to}> {{bufferization.writable = true}},
                %s: tensor<?xi64>, %x: tensor<?x{source}>) -> tensor<?x{to}> {{
  %y = arith.truncf %x {mode} : tensor<?x{source}> to tensor<?x{to}>
  %r = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %y : tensor<?x{to}> into %c : tensor<?x{to}> map(affine_map<(t, s) -> (s)>)
  return %r : tensor<?x{to}>
}}"""


def make_inputs(to: type, source: type) -> np.ndarray:
    """Values around every value of `to`, its limits, and special ones."""
    every = all_values(to)
    # All of the small types, of the others some, with the value that follows.
    step = max(1, len(every) // 300)
    some, after = every[:-1][::step], every[1:][::step]
    with np.errstate(over="ignore"):
        middles = ((some + after) / 2).astype(source)
        exact = np.concatenate([some, every[-1:]]).astype(source)
        beyond = np.array([2, -2, 1e30, -1e30], np.float64) * every[-1]
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40])
        parts = [exact, middles, np.nextafter(middles, source(np.inf))]
        parts += [np.nextafter(exact, source(np.inf)), np.nextafter(exact, source(0))]
        parts += [beyond.astype(source), special.astype(source)]
    return np.concatenate(parts)


def all_values(dtype: type) -> np.ndarray:
    """All finite values of `dtype`, sorted, zero once, as float64."""
    width = np.dtype(dtype).itemsize
    bits = np.arange(2 ** (8 * width), dtype=f"u{width}")
    with np.errstate(invalid="ignore"):
        values = bits.view(dtype).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def round_one(x: float, every: np.ndarray, mode: str, overflow: float) -> float:
    """`x`, which is no NaN, to one of `every` or to the overflow value."""
    if np.isinf(x):
        return np.copysign(overflow, x)
    if abs(x) > every[-1]:
        step = every[-1] - every[-2]
        away = {
            "toward_zero": False,
            "upward": x > 0,
            "downward": x < 0,
            "to_nearest_away": abs(x) >= every[-1] + step / 2,
        }[mode]
        return np.copysign(overflow if away else every[-1], x)
    low = every[np.searchsorted(every, x, side="right") - 1]
    high = every[np.searchsorted(every, x, side="left")]
    if mode == "upward":
        rounded = high
    elif mode == "downward":
        rounded = low
    elif mode == "toward_zero":
        rounded = low if x > 0 else high
    elif x - low == high - x:
        rounded = high if x > 0 else low
    else:
        rounded = low if x - low < high - x else high
    return np.copysign(rounded, x)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to", TYPES)
def test_rounding_mode(compiler, to, mode):
    dtype, source_name, source = TYPES[to]
    inputs = make_inputs(dtype, source)
    every = all_values(dtype)
    overflow = np.inf if to in ("bf16", "f16", "f8E5M2") else np.nan
    expected = [
        np.nan if np.isnan(x) else round_one(float(x), every, mode, overflow)
        for x in inputs
    ]

    text = PROGRAM.format(to=to, source=source_name, mode=mode)
    library = abi.Library(compiler.compile(text, "--target=cpu", "--emit=shared"))
    integers = {1: np.uint8, 2: np.int16}[np.dtype(dtype).itemsize]
    cache = torch.from_numpy(np.zeros(len(inputs), integers))
    library.call(
        "main", cache, torch.arange(len(inputs)), torch.from_numpy(inputs.copy())
    )
    found = cache.numpy().view(dtype).astype(np.float64)
    wanted = np.array(expected)
    np.testing.assert_array_equal(found, wanted)
    # Zeros keep their sign where the type has two.
    if to != "f8E4M3FNUZ":
        zeros = wanted == 0
        assert np.array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))
