# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices and rows through the Torch door: what is computed, against torch eager.

Torch rounds after every operation, and computes products of narrow floats in 32
bits: bytes decide whether kvfuse does the same.
"""

import pytest
import torch

from kvfuse_testing import torch_programs

TOKENS, SLOTS, WIDTH = 6, 24, 40
E4M3FN = torch.float8_e4m3fn


def put(cache, slots, rows):
    """The write of a flat cache, in the type of the cache."""
    cache[slots] = rows.to(cache.dtype)


def put_bits(cache, slots, rows):
    """fp8 rows in a cache of bytes."""
    cache[slots] = rows.to(E4M3FN).view(torch.uint8)


def picked(cache, slots, rows):
    """Rows that are not padding, each filter computed anew."""
    filtered = slots[slots >= 0]
    inside = filtered // 4 < 5
    put(cache, filtered[inside], (rows * 0.3)[slots >= 0][inside].contiguous())


def repeated(cache, slots, rows):
    """Two half rows for each token, their numbers made by an iota."""
    halves = cache.view(2 * SLOTS, WIDTH // 2)
    at = (slots.unsqueeze(1) * 2 + torch.arange(2)).clamp(0, 2 * SLOTS - 1)
    halves[at.flatten()] = rows.view(-1, WIDTH // 2).to(cache.dtype)


def redirected(cache, slots, rows):
    """Padding goes to the last slot."""
    at = torch.where(slots == -1, SLOTS - 1, slots)
    put(cache, at, rows)


VALUES = {
    "mul": lambda x, s: x * 0.1,
    "div": lambda x, s: x / 0.7,
    "mul_then_div": lambda x, s: x * (1 / 3) / 3,
    "integer_scalar": lambda x, s: x * 3,
    "tensor": lambda x, s: x / s,
    "scalar_tensor": lambda x, s: x * s[0],
    "clamp": lambda x, s: (x * 0.3).clamp(-0.3, 0.30000001),
    "relu": lambda x, s: x.clamp_min(0),
    "negative": lambda x, s: -x,
    "wide_between": lambda x, s: x.float() / 0.3 * 1.7,
}


def arguments(dtype: torch.dtype, cache: torch.dtype):
    """A cache, distinct slots with padding, and rows of all magnitudes."""
    generator = torch.Generator().manual_seed(7)
    rows = torch.randn(TOKENS, WIDTH, generator=generator)
    rows *= 10.0 ** torch.randint(-4, 3, (TOKENS, WIDTH), generator=generator)
    rows[0, :4] = torch.tensor([0.0, -0.0, float("inf"), -float("inf")])
    slots = torch.tensor([3, -1, 17, 9, 21, 4])
    return torch.zeros(SLOTS, WIDTH).to(cache), slots, rows.to(dtype)


def check(compiler, function, tensors, launches=(1,)) -> None:
    """Fused and unfused leave the bytes of torch eager."""
    exported = torch_programs.import_program(
        torch_programs.export_program(function, tensors)
    )
    for fuse in ("on", "off"):
        compiled = torch_programs.compile_exported(compiler, exported, fuse)
        assert not compiled.error
        assert fuse == "off" or compiled.launches == launches
        assert not torch_programs.differences(
            compiled, exported, function, tensors, [0]
        )


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_values(compiler, value, dtype):
    def function(cache, slots, rows, scale):
        put(cache, slots, VALUES[value](rows, scale))

    tensors = (*arguments(dtype, torch.bfloat16), torch.tensor([0.37]))
    check(compiler, function, tensors)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_scale_of_own_type(compiler, dtype):
    def function(cache, slots, rows, scale):
        put(cache, slots, rows * scale)

    tensors = (*arguments(dtype, torch.bfloat16), torch.tensor([0.37]).to(dtype))
    check(compiler, function, tensors)


@pytest.mark.parametrize("scale", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_quotient_by_small_float(compiler, dtype, scale):
    """Rows and scale are divided in the type that torch promotes to."""

    def function(cache, slots, rows, scale):
        put(cache, slots, rows / scale)

    tensors = (*arguments(dtype, torch.bfloat16), torch.tensor([0.37]).to(scale))
    check(compiler, function, tensors)


@pytest.mark.parametrize("value", ["div", "clamp"])
def test_bits(compiler, value):
    def function(cache, slots, rows, scale):
        put_bits(cache, slots, VALUES[value](rows, scale))

    tensors = (*arguments(torch.bfloat16, torch.uint8), torch.tensor([0.37]))
    check(compiler, function, tensors)


@pytest.mark.parametrize("function", [picked, repeated, redirected])
def test_indices(compiler, function):
    check(compiler, function, arguments(torch.float32, torch.bfloat16))


def test_different_masks_are_refused(compiler):
    """SX6: rows and slots that different masks pick are written as torch does."""

    def function(cache, slots, rows, mask):
        put(cache, slots[slots >= 0], rows[mask])

    mask = torch.tensor([True, False, True, True, True, True])
    tensors = (*arguments(torch.float32, torch.bfloat16), mask)
    exported = torch_programs.import_program(
        torch_programs.export_program(function, tensors)
    )
    compiled = torch_programs.compile_exported(compiler, exported)
    assert compiled.launches == () and compiled.reasons == ("data-dependent",)
    assert not torch_programs.differences(compiled, exported, function, tensors, [])
