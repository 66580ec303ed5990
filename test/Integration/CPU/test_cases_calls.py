# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had: calls without work, large ones, fallbacks.

A test has the number of its case, sections B, G and O. Addresses beyond 32 bits are
in test_far_addresses.py; that tokens lie on grid x, in an scf.if (B6, B8), is seen
in the IR (test/Lowering).
"""

import pytest
import torch

from kvfuse_testing import strided
from kvfuse_testing.cases_torch import check, head_major, paged, rows, zeros

# B: token counts, padding, empty calls, launch limits.


def test_B2_a_call_of_padding_writes_nothing(compiler):
    """Compiled calls have effects, those that only warm up or are recorded too:
    with the reserved slot everywhere there are none."""

    def write(kc, vc, slots, k, v):
        head_major(kc, slots, k)
        head_major(vc, slots, v)

    caches = rows(3, 2, 4, 8, seed=1), rows(3, 2, 4, 8, seed=2)
    values = rows(3, 2, 8), rows(3, 2, 8, seed=3)
    padding = torch.tensor([-1, -1, -1])
    arguments = (*caches, padding, *values)
    option = "--reserved-slot=-1"
    check(compiler, write, arguments, (2,), option, expected=lambda *_: None)
    arguments = (*caches, torch.tensor([7, 0, 11]), *values)
    check(compiler, write, arguments, (2,), option)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("layout", ["hnd", "nhd"])
@pytest.mark.parametrize("empty", ["tokens", "heads", "head_dim"])
def test_B6_B7_nothing_to_write(compiler, empty, layout, dynamic):
    """No tokens, no heads, no head dimension: nothing changes (SX9)."""
    sizes = {"tokens": 2, "heads": 2, "head_dim": 8, empty: 0}
    tokens, heads, head_dim = sizes.values()
    page = (4, heads) if layout == "nhd" else (heads, 4)
    strides = (64, *((16, 8) if layout == "nhd" else (32, 8)), 1)
    cache = strided.view((3, *page, head_dim), strides)
    values = strided.view((tokens, heads, head_dim), (16, 8, 1), dtype=torch.float32)
    writes = [strided.Write(cache, values, layout)]
    strided.check(compiler, writes, [0] * tokens, dynamic=dynamic)


def test_B6_one_of_two_is_empty(compiler):
    """What has no rows does not keep the others from being written."""
    caches = strided.view((3, 4, 0, 8), (64, 8, 8, 1)), strided.view((3, 4, 2, 8))
    values = strided.view((2, 0, 8), (8, 8, 1)), strided.view((2, 2, 8))
    for order in (1, -1):
        pairs = list(zip(caches, values, strict=True))[::order]
        writes = [strided.Write(*pair) for pair in pairs]
        strided.check(compiler, writes, [11, 5], dynamic=True)


def test_B8_many_tokens(compiler):
    """More than the 65,535 blocks that grid y and z take."""
    tokens = 65_537
    cache = strided.view((16_400, 4, 1, 2))
    slots = torch.randperm(65_600, generator=torch.Generator().manual_seed(8))
    values = strided.view((tokens, 1, 2))
    strided.check(compiler, [strided.Write(cache, values)], slots[:tokens].tolist())


def test_B8_long_rows(compiler):
    """More elements of a row than 65,535 blocks of 256 threads: they loop."""
    head_dim = 65_535 * 256 + 3
    cache = strided.view((2, 1, 1, head_dim), dtype=torch.uint8)
    values = strided.view((1, 1, head_dim), dtype=torch.uint8)
    strided.check(compiler, [strided.Write(cache, values)], [1])


# C: what is left of page arithmetic.


@pytest.mark.parametrize("divisor", [4, -4])
def test_C6_divisor_of_the_call(compiler, divisor):
    """A divisor that is no constant is no map: its quotients are computed before,
    as torch computes them."""

    def write(cache, slots, page, values):
        cache[slots // page, slots % page] = values

    arguments = (zeros(6, 4, 2, 8), torch.tensor([5, 23]), torch.tensor(divisor))
    check(compiler, write, (*arguments, rows(2, 2, 8)), (1,))


# G: 32 bits.


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_G7_slots_of_both_widths(compiler, dtype):
    """By their type, with their sign; -1 is the last slot."""
    writes = [strided.Write(strided.view((3, 4, 2, 8)), strided.view((4, 2, 8)))]
    strided.check(compiler, writes, [7, -1, 0, 10], dtype=dtype)


@pytest.mark.parametrize("dtype", ["i16", "i8", "f32", "bf16"])
def test_G7_other_slots_are_an_error(compiler, dtype):
    text = f"""
    func.func @f(%c: tensor<?x8xf32> {{bufferization.writable = true}},
                 %s: tensor<?x{dtype}>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {{
      %0 = kv.write at(%s : tensor<?x{dtype}>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x8xf32> into %c : tensor<?x8xf32>
        map(affine_map<(t, s, d) -> (s, d)>)
      return %0 : tensor<?x8xf32>
    }}"""
    done = compiler.run("-", "--target=cpu", "--emit=kv", text=text)
    assert done.returncode == 1
    assert b"SX1" in done.stderr


# O: what upstream leaves without a lowering.


def test_O1_a_refused_scatter_runs(compiler):
    """Head-major, two index tensors: as a kernel behind those of its indices."""

    def write(cache, slots, values):
        page = torch.div(slots, 16, rounding_mode="trunc")
        cache[page, :, torch.fmod(slots, 16)] = values

    arguments = (rows(4, 2, 16, 8), torch.tensor([5, -1, 63]), rows(3, 2, 8, seed=1))
    check(compiler, write, arguments, (), reasons=["mixed-division"])


def test_O3_cast_and_reshape_before_the_write(compiler):
    """Both are taken in, with the arithmetic of the slots."""

    def write(cache, slots, values):
        paged(cache, slots, values.view(3, 8, 128))

    cache = zeros(3, 32, 8, 128, dtype=torch.float8_e4m3fn)
    arguments = (cache, torch.tensor([0, 95, 32]), rows(3, 1024))
    compiled = check(compiler, write, arguments, (1,))
    assert compiled.kernels == 1


def test_O6_dropped_slots_beside_the_last(compiler):
    """Slots of padding repeat, and are not in order."""

    def write(cache, slots, values):
        cache[slots] = values

    def expected(cache, slots, values):
        inside = slots < 24
        write(cache, slots[inside], values[inside])

    slots = torch.tensor([24, 23, 24, 2, 24])
    arguments = (rows(24, 2, 8), slots, rows(5, 2, 8, seed=1))
    check(compiler, write, arguments, (1,), "--out-of-bounds=skip", expected=expected)
