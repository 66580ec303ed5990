# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder of kv.cast against ml_dtypes (SC1 to SC3), for every 16-bit input.

The folder computes what the operation means, and so it has to agree with the
oracle that compiled casts are compared with.
"""

import re
import subprocess

import numpy as np
import pytest

from kvfuse_testing import cases, casts, cells
from kvfuse_testing.compile import find_compiler

COUNTS = {"bf16": 1 << 16, "f16": 1 << 16, "f32": cases.F32_BOUNDARIES + (1 << 12)}


def fold(cast: casts.Cast, source: np.ndarray) -> np.ndarray:
    """Cells that `kvfuse-opt --canonicalize` makes of a constant."""
    mode = " saturating" if cast.saturating else ""
    source_type = f"tensor<{source.size}x{casts.MLIR_TYPES[cast.source]}>"
    result_type = f"tensor<{source.size}x{casts.MLIR_TYPES[cast.result]}>"
    text = f"""
func.func @f() -> {result_type} {{
  %0 = arith.constant dense<"0x{source.tobytes().hex().upper()}"> : {source_type}
  %1 = kv.cast %0{mode} : {source_type} to {result_type}
  return %1 : {result_type}
}}
"""
    tool = find_compiler().with_name("kvfuse-opt")
    out = subprocess.run(
        [str(tool), "--canonicalize"],
        input=text,
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    assert "kv.cast" not in out
    bits = re.search('dense<"0x([0-9A-F]+)">', out).group(1)
    return np.frombuffer(bytes.fromhex(bits), cells.cell_type(cast.result))


@pytest.mark.parametrize("cast", casts.FP8_CASTS + casts.WIDE_CASTS, ids=str)
def test_folder(cast):
    source = cases.boundary_cells(cast.source, 2, COUNTS[cast.source])
    expected = cells.canonical(cast.result, casts.by_ml_dtypes(cast, source))
    got = cells.canonical(cast.result, fold(cast, source))
    wrong = np.flatnonzero(got != expected)
    assert not wrong.size, [
        f"{int(source[i]):#x} gave {int(got[i]):#x}, not {int(expected[i]):#x}"
        for i in wrong[:5]
    ]
