# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scales, clamps, casts and bitcasts of the values, fused and as a chain.

Torch computes the expected bytes with its own operations, in the type and the
order that the program says.
"""

import re

import pytest
import torch

from kvfuse_testing import abi

TOKENS, HEADS, HEAD_DIM, PAGES, PAGE = 7, 2, 8, 5, 4
SLOTS = torch.tensor([3, 19, 0, 8, 4, 13, 6])
SCALES = (0.5, 3.0, -0.1)

#: Element type of the rows -> torch's.
ROWS = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}

PROGRAM = """
#pair = affine_map<(t, p, o, h, d) -> (p, h, o, d)>
func.func @main(%cache: tensor<?x2x4x8x{stored}> {{bufferization.writable = true}},
                %rows: tensor<?x2x8x{row}>, %slots: tensor<?xi64>, %scale: f32)
    -> tensor<?x2x4x8x{stored}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %slots, %c0 : tensor<?xi64>
  %narrow = arith.truncf %scale : f32 to {narrow}
  %scales = tensor.splat %narrow[%n] : tensor<?x2x8x{narrow}>
{body}
  %k2 = arith.constant 2 : i64
  %k4 = arith.constant 4 : i64
  %twos = tensor.splat %k2[%n] : tensor<?xi64>
  %fours = tensor.splat %k4[%n] : tensor<?xi64>
  %page = arith.shrsi %slots, %twos : tensor<?xi64>
  %first = arith.muli %page, %fours : tensor<?xi64>
  %offset = arith.subi %slots, %first : tensor<?xi64>
  %0 = kv.write at(%page, %offset : tensor<?xi64>, tensor<?xi64>)
      negative(wrap) out_of_bounds(trap)
    put %stored : tensor<?x2x8x{stored}> into %cache : tensor<?x2x4x8x{stored}>
        map(#pair)
  return %0 : tensor<?x2x4x8x{stored}>
}}
"""


def program(row: str, stored: str, body: str) -> str:
    """The module; `body` computes %stored from %rows, in types {R} and {S}."""
    text = body.replace("{R}", f"tensor<?x2x8x{row}>")
    text = text.replace("{S}", f"tensor<?x2x8x{stored}>")
    # f32 to f32 is no truncf: the scale of f32 rows is used as it is.
    module = PROGRAM.format(row=row, stored=stored, narrow=row, body=text)
    if row == "f32":
        module = module.replace("  %narrow = arith.truncf %scale : f32 to f32\n", "")
        module = module.replace("%narrow[", "%scale[")
    return module


def run(compiler, module: str, fuse: str, rows: torch.Tensor, dtype, scale):
    """The cache that a call leaves, as bytes."""
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    cache = torch.full((PAGES, HEADS, PAGE, HEAD_DIM), 7, dtype=torch.uint8)
    cache = cache.repeat_interleave(dtype.itemsize, dim=3).view(dtype)
    library = abi.Library(compiler.compile(module, *options))
    library.call("main", cache, rows, SLOTS, scale)
    return cache.view(torch.uint8)


def expected(stored: torch.Tensor) -> torch.Tensor:
    """The same by torch, as bytes."""
    width = stored.dtype.itemsize
    cache = torch.full((PAGES, HEADS, PAGE, HEAD_DIM * width), 7, dtype=torch.uint8)
    rows = stored.view(torch.uint8).reshape(TOKENS, HEADS, HEAD_DIM * width)
    cache[SLOTS // PAGE, :, SLOTS % PAGE] = rows
    return cache


def make_rows(dtype: torch.dtype) -> torch.Tensor:
    """Rows of many magnitudes; none is NaN, whose encoding is left open (SC6)."""
    generator = torch.Generator().manual_seed(5)
    rows = torch.randn(TOKENS, HEADS, HEAD_DIM, generator=generator)
    exponents = torch.randint(-8, 9, rows.shape, generator=generator)
    return (rows * 2.0**exponents).to(dtype)


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("operation", ["mul", "div"])
@pytest.mark.parametrize("row", ROWS)
def test_scale_in_the_type_of_the_rows(compiler, row, operation, fuse):
    """x / s stays a division, rounded in the rows' own type."""
    dtype = ROWS[row]
    rows = make_rows(dtype)
    body = f"  %stored = arith.{operation}f %rows, %scales : {{R}}"
    for scale in SCALES:
        factor = torch.tensor(scale).to(dtype)
        stored = rows * factor if operation == "mul" else rows / factor
        module = program(row, row, body)
        assert torch.equal(
            run(compiler, module, fuse, rows, dtype, scale), expected(stored)
        )


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("scale", SCALES)
def test_scale_clamp_cast_and_bitcast(compiler, scale, fuse):
    """fp8 bytes in a uint8 cache: divide, clamp, cast, see as bytes (SC5)."""
    rows = make_rows(torch.float32)
    body = """
  %low = arith.constant -448.0 : f32
  %high = arith.constant 448.0 : f32
  %lows = tensor.splat %low[%n] : {R}
  %highs = tensor.splat %high[%n] : {R}
  %divided = arith.divf %rows, %scales : {R}
  %below = arith.minimumf %divided, %highs : {R}
  %clamped = arith.maximumf %below, %lows : {R}
  %cast = kv.cast %clamped : {R} to tensor<?x2x8xf8E4M3FN>
  %stored = arith.bitcast %cast : tensor<?x2x8xf8E4M3FN> to {S}"""
    stored = (rows / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
    assert torch.equal(
        run(compiler, program("f32", "i8", body), fuse, rows, torch.uint8, scale),
        expected(stored),
    )


def test_they_are_one_kernel(compiler):
    """The scale is an argument of the kernel, not a tensor."""
    body = "  %stored = arith.divf %rows, %scales : {R}"
    text = compiler.compile(
        program("bf16", "bf16", body), "--target=sm_90", "--emit=gpu", "--no-versioning"
    ).read_text()
    assert text.count("gpu.launch_func") == 1
    assert "arith.divf" in text
    assert "memref.alloc" not in text


#: How rows come to be [T, H, D] bf16: their type, what makes them %stored, and the
#: same in torch. Their number is that of the slots.
MOVES = {
    "transposed": (
        "2x?x8xf32",
        """
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %moved = linalg.transpose ins(%rows : tensor<2x?x8xf32>)
      outs(%e : tensor<?x2x8xf32>) permutation = [1, 0, 2]
  %stored = kv.cast %moved : tensor<?x2x8xf32> to tensor<?x2x8xbf16>""",
        lambda rows: rows.transpose(0, 1),
    ),
    "cast, then reshaped": (
        "?x16xf32",
        """
  %cast = arith.truncf %rows : tensor<?x16xf32> to tensor<?x16xbf16>
  %stored = tensor.expand_shape %cast [[0], [1, 2]] output_shape [%n, 2, 8]
      : tensor<?x16xbf16> into tensor<?x2x8xbf16>""",
        lambda rows: rows.view(TOKENS, HEADS, HEAD_DIM),
    ),
    "squeezed": (
        "1x2x?x8xf32",
        """
  %cast = kv.cast %rows : tensor<1x2x?x8xf32> to tensor<1x2x?x8xbf16>
  %heads = tensor.collapse_shape %cast [[0, 1], [2], [3]]
      : tensor<1x2x?x8xbf16> into tensor<2x?x8xbf16>
  %e = tensor.empty(%n) : tensor<?x2x8xbf16>
  %stored = linalg.transpose ins(%heads : tensor<2x?x8xbf16>)
      outs(%e : tensor<?x2x8xbf16>) permutation = [1, 0, 2]""",
        lambda rows: rows[0].transpose(0, 1),
    ),
    "scaled by one element": (
        "?x2x8xf32",
        """
  %one = tensor.collapse_shape %scale [] : tensor<1xf32> into tensor<f32>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %scales = linalg.broadcast ins(%one : tensor<f32>) outs(%e : tensor<?x2x8xf32>)
      dimensions = [0, 1, 2]
  %product = arith.mulf %scales, %rows : tensor<?x2x8xf32>
  %stored = kv.cast %product : tensor<?x2x8xf32> to tensor<?x2x8xbf16>""",
        lambda rows: rows * torch.tensor(SCALES[1]),
    ),
}


def moved_program(move: str) -> str:
    """The module for rows that come in this way; the scale is a tensor."""
    rows_type, body, _ = MOVES[move]
    module = program("f32", "bf16", body)
    module = module.replace("%rows: tensor<?x2x8xf32>", f"%rows: tensor<{rows_type}>")
    module = module.replace("%scale: f32", "%scale: tensor<1xf32>")
    return re.sub(r"  %scales = tensor.splat .*\n", "", module)


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("move", MOVES)
def test_rows_that_are_moved(compiler, move, fuse):
    """The order of dimensions, reshapes, and a scale in a tensor."""
    rows_type, _, move_in_torch = MOVES[move]
    sizes = [TOKENS if size == "?" else int(size) for size in rows_type.split("x")[:-1]]
    generator = torch.Generator().manual_seed(7)
    rows = torch.randn(sizes, generator=generator)
    stored = move_in_torch(rows).to(torch.bfloat16).contiguous()
    module = moved_program(move)
    scale = torch.tensor([SCALES[1]])
    written = run(compiler, module, fuse, rows, torch.bfloat16, scale)
    assert torch.equal(written, expected(stored))


@pytest.mark.parametrize("move", MOVES)
def test_moves_are_no_kernels(compiler, move):
    text = compiler.compile(
        moved_program(move), "--target=sm_90", "--emit=gpu", "--no-versioning"
    ).read_text()
    assert text.count("gpu.launch_func") == 1
