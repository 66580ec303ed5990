# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bf16 and f16 scalars: a scale in a tensor of one element, and a parameter.

The library must load: it may call nothing to convert them. Torch computes the
expected bytes.
"""

import ctypes

import pytest
import torch

from kvfuse_testing import abi

TOKENS, ROWS, WIDTH = 5, 9, 8
SLOTS = torch.tensor([3, 8, 0, -2, 4])
SCALES = (0.5, 3.0, -0.1)
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}

SCALE_TENSOR = """
func.func @main(%cache: tensor<?x8x{row}> {{bufferization.writable = true}},
                %rows: tensor<?x8x{row}>, %slots: tensor<?xi64>,
                %scales: tensor<1x{row}>) -> tensor<?x8x{row}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %rows, %c0 : tensor<?x8x{row}>
  %scale = tensor.extract %scales[%c0] : tensor<1x{row}>
  %like = tensor.splat %scale[%n] : tensor<?x8x{row}>
  %scaled = arith.{operation} %rows, %like : tensor<?x8x{row}>
  %0 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %scaled : tensor<?x8x{row}> into %cache : tensor<?x8x{row}>
        map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8x{row}>
}}
"""

PARAMETER = """
func.func @main(%cache: tensor<?x8x{row}> {{bufferization.writable = true}},
                %rows: tensor<?x8x{row}>, %slots: tensor<?xi64>,
                %scale: {row}) -> tensor<?x8x{row}> {{
  %0 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<?x8x{row}> into %cache : tensor<?x8x{row}>
        map(affine_map<(t, s, d) -> (s, d)>) {{
    ^bb0(%x: {row}):
      %y = arith.{operation} %x, %scale : {row}
      kv.yield %y : {row}
    }}
  return %0 : tensor<?x8x{row}>
}}
"""

#: How the scale is given -> the program, and the scale as its argument.
PROGRAMS = {
    "tensor": (SCALE_TENSOR, lambda scale: scale),
    "parameter": (
        PARAMETER,
        lambda scale: ctypes.c_uint16(scale.view(torch.int16).item()),
    ),
}


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("operation", ["mulf", "divf"])
@pytest.mark.parametrize("row", DTYPES)
@pytest.mark.parametrize("given", PROGRAMS)
def test_bytes(compiler, given, row, operation, fuse):
    """Every scale, in the type of the rows."""
    program, argument = PROGRAMS[given]
    module = program.format(row=row, operation=operation)
    library = abi.Library(
        compiler.compile(module, "--target=cpu", "--emit=shared", f"--fuse={fuse}")
    )
    dtype = DTYPES[row]
    rows = torch.randn(TOKENS, WIDTH, generator=torch.Generator()).to(dtype)
    for value in SCALES:
        scale = torch.tensor([value], dtype=dtype)
        cache = torch.full((ROWS, WIDTH), 7, dtype=dtype)
        expected = cache.clone()
        expected[SLOTS] = rows * scale if operation == "mulf" else rows / scale
        library.call("main", cache, rows, SLOTS, argument(scale))
        assert torch.equal(cache, expected)
