# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A scale that is an element of a tensor: loaded by the kernel, not by the host.

Torch computes the expected bytes, in the type of the rows.
"""

import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.compile import CompileError

TOKENS, ROWS, WIDTH = 5, 9, 8
SLOTS = torch.tensor([3, 8, 0, -2, 4])
SCALES = (0.5, 3.0, -0.1)

#: Type of the scale -> the indices of its element.
SHAPES = {"f32": "", "1xf32": "%c0", "1x1xf32": "%c0, %c0"}

#: Element type of the rows -> torch's.
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}

PROGRAM = """
func.func @main(%cache: tensor<?x8x{row}> {{bufferization.writable = true}},
                %rows: tensor<?x8x{row}>, %slots: tensor<?xi64>,
                %scales: tensor<{scale}>) -> tensor<?x8x{row}> {{
  %c0 = arith.constant 0 : index
  %wide = tensor.extract %scales[{element}] : tensor<{scale}>
  {narrow}
  %0 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<?x8x{row}> into %cache : tensor<?x8x{row}>
        map(affine_map<(t, s, d) -> (s, d)>) {{
    ^bb0(%x: {row}):
      %y = arith.{operation}f %x, %{name} : {row}
      kv.yield %y : {row}
    }}
  return %0 : tensor<?x8x{row}>
}}
"""


def program(shape: str, row: str, operation: str) -> str:
    """The module; the scale is narrowed to the type of the rows."""
    narrow = "" if row == "f32" else f"%narrow = arith.truncf %wide : f32 to {row}"
    return PROGRAM.format(
        row=row,
        scale=shape,
        element=SHAPES[shape],
        narrow=narrow,
        name="narrow" if narrow else "wide",
        operation=operation,
    )


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("operation", ["mul", "div"])
@pytest.mark.parametrize("row", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_bytes(compiler, shape, row, operation, fuse):
    """Tensors of one element, of any rank; torch does the arithmetic."""
    dtype = DTYPES[row]
    module = program(shape, row, operation)
    library = abi.Library(
        compiler.compile(module, "--target=cpu", "--emit=shared", f"--fuse={fuse}")
    )
    rows = torch.randn(TOKENS, WIDTH, generator=torch.Generator()).to(dtype)
    for value in SCALES:
        scale = torch.full([1] * shape.count("x"), value)
        cache = torch.full((ROWS, WIDTH), 7, dtype=dtype)
        expected = cache.clone()
        factor = torch.tensor(value).to(dtype)
        expected[SLOTS] = rows * factor if operation == "mul" else rows / factor
        library.call("main", cache, rows, SLOTS, scale)
        assert torch.equal(cache, expected)


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("shape", SHAPES)
def test_ptx(compiler, shape, fuse):
    """The host loads nothing; that would be an error."""
    module = program(shape, "bf16", "div")
    options = ("--target=sm_90", f"--fuse={fuse}")
    text = compiler.compile(module, *options, "--emit=gpu").read_text()
    host = text[: text.index("gpu.module")]
    assert "gpu.launch_func" in host
    assert "memref.load" not in host
    assert compiler.compile(module, *options, "--emit=ptx").exists()


def test_scale_that_is_written_cannot_be_loaded(compiler):
    """The cache is its own scale: on a GPU the host would have to load it."""
    module = """
module { module @kvfuse {
func.func @main(%slots: memref<?xi64>, %rows: memref<?x8xf32>,
                %cache: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %scale = memref.load %cache[%c0, %c0] : memref<?x8xf32>
  kv.write at(%slots : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : memref<?x8xf32> into %cache : memref<?x8xf32>
        map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %scale : f32
      kv.yield %y : f32
    }
  return
}
} }
"""
    with pytest.raises(CompileError, match="accesses memory of the device"):
        compiler.compile(module, "--target=sm_90", "--emit=ptx")
    library = abi.Library(compiler.compile(module, "--target=cpu", "--emit=shared"))
    rows = torch.randn(TOKENS, WIDTH, generator=torch.Generator())
    cache = torch.full((ROWS, WIDTH), 7.0)
    expected = cache.clone()
    expected[SLOTS] = rows * 7.0
    library.call("main", SLOTS, rows, cache)
    assert torch.equal(cache, expected)
