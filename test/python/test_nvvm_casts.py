# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Casts by the GPU's own conversions mean what the rules say (SC1 to SC3).

What `kv-casts-to-nvvm` makes is computed here for every 16-bit input and all
boundaries of f32, the instruction being what the PTX manual says it is.
"""

import subprocess

import numpy as np
import pytest

from kvfuse_testing import cases, casts, cells, vectors

CASTS = [c for c in casts.FP8_CASTS if c.result in ("e4m3fn", "e5m2")]


def lower(compiler, cast: casts.Cast, lanes: int) -> str:
    """A function `cast` on vectors of `lanes` elements, scalars if there is one."""
    source, result = casts.MLIR_TYPES[cast.source], casts.MLIR_TYPES[cast.result]
    if lanes > 1:
        source, result = f"vector<{lanes}x{source}>", f"vector<{lanes}x{result}>"
    mode = " saturating" if cast.saturating else ""
    text = f"""func.func @cast(%x: {source}) -> {result} {{
      %y = kv.cast %x{mode} : {source} to {result}
      return %y : {result}
    }}"""
    command = [
        compiler.path.with_name("kvfuse-opt"),
        "--pass-pipeline=builtin.module(func.func(kv-casts-to-nvvm))",
        "--mlir-print-op-generic",
    ]
    made = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


def convert(compiler, cast: casts.Cast, lanes: int, source: np.ndarray) -> np.ndarray:
    """Cells of the result for cells of the source, a multiple of `lanes` of them."""
    text = lower(compiler, cast, lanes)
    assert text.count("nvvm.convert") == (lanes + 1) // 2
    argument = source.view(casts.NUMPY_TYPES[cast.source])
    if lanes > 1:
        argument = argument.reshape(-1, lanes)
    result = vectors.run(text, "cast", argument)
    return np.ascontiguousarray(result).view(np.uint8).reshape(-1)


@pytest.mark.parametrize("lanes", (1, 3, 4))
@pytest.mark.parametrize("cast", CASTS, ids=str)
def test_cast(compiler, cast, lanes):
    source = cases.boundary_cells(cast.source, 2, cases.F32_BOUNDARIES)
    source = np.resize(source, source.size + -source.size % lanes)
    oracle = casts.by_torch if casts.torch_has(cast) else casts.by_ml_dtypes
    expected = cells.canonical(cast.result, oracle(cast, source))
    actual = cells.canonical(cast.result, convert(compiler, cast, lanes, source))
    wrong = np.flatnonzero(actual != expected)
    shown = [f"{source[i]:#x}: {actual[i]:#x}, not {expected[i]:#x}" for i in wrong[:5]]
    assert not wrong.size, f"{wrong.size} inputs wrong: {shown}"


#: Values of f32 at the upper end of a type, and the cells that they become.
EDGES = [
    # 464 is half way between 448 and what would be 480.
    (casts.Cast("f32", "e4m3fn"), 464.0, 0x7E),
    (
        casts.Cast("f32", "e4m3fn"),
        np.nextafter(np.float32(464), np.float32(1000)),
        0x7F,
    ),
    (casts.Cast("f32", "e4m3fn"), -np.inf, 0xFF),
    (casts.Cast("f32", "e4m3fn", saturating=True), -np.inf, 0xFE),
    (casts.Cast("f32", "e4m3fn", saturating=True), 465.0, 0x7E),
    (casts.Cast("f32", "e4m3fn", saturating=True), np.nan, 0x7F),
    # 61440 is half way between 57344 and what would be 65536.
    (casts.Cast("f32", "e5m2"), np.nextafter(np.float32(61440), np.float32(0)), 0x7B),
    (casts.Cast("f32", "e5m2"), 61440.0, 0x7C),
    (casts.Cast("f32", "e5m2"), -np.inf, 0xFC),
    # Rounded to bf16 first, this would tie to 1.0.
    (casts.Cast("f32", "e4m3fn"), 1.0625 + 2.0**-20, 0x39),
]


@pytest.mark.parametrize("cast, value, cell", EDGES)
def test_edges(compiler, cast, value, cell):
    source = np.array([value], np.float32).view(np.uint32)
    actual = convert(compiler, cast, 1, source)
    assert cells.canonical(cast.result, actual) == cells.canonical(
        cast.result, np.array([cell], np.uint8)
    )
