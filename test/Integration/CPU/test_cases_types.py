# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had: casts, encodings, scales.

A test has the number of its case, sections I and J. What is not here:

- I2 (the same input gives 448 or NaN) is the oracle of I1 for torch 2.11.
- I4 (a cast left behind in silence) is kv-check-lowered's test in test/Lowering;
  here it is seen that nothing is left for a GPU.
- I14's second half, one vendor's fp8 on another's chip, needs a target that kvfuse
  does not have.
"""

import math

import ml_dtypes
import numpy as np
import pytest
import torch

from kvfuse_testing import torch_programs
from kvfuse_testing.cases_torch import check, rows, zeros

E4M3FN, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
#: Around the switch from 448 to NaN, and what is no number.
EXTREMES = [0.0, 448.0, 464.0, 465.0, 1000.0, -1000.0, math.inf, -math.inf, math.nan]


def flat(cache, slots, values):
    """The write of a flat cache with a cast."""
    cache[slots] = values.to(cache.dtype)


def one_row(values: list[float], dtype=torch.float32) -> tuple:
    """Slot 1 of two, and a row of `values`."""
    return torch.tensor([1]), torch.tensor([values], dtype=dtype)


# I: fp8.


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_I1_overflow_saturates_in_torch_2_13(compiler, dtype):
    check(compiler, flat, (zeros(2, 9, dtype=E4M3FN), *one_row(EXTREMES, dtype)), (1,))


def test_I1_I2_overflow_is_nan_in_torch_2_11(compiler):
    """464 ties to 448, and what lies above is NaN."""

    def expected(cache, slots, values):
        cast = values.numpy().astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
        cache.view(torch.uint8)[slots] = torch.from_numpy(cast)

    # ml_dtypes and kvfuse may choose other bits for a NaN that has a sign (SC6).
    values = [value for value in EXTREMES if value != -math.inf and value > -500]
    arguments = (zeros(2, len(values), dtype=E4M3FN), *one_row(values))
    check(compiler, flat, arguments, (1,), "--torch-version=2.11", expected=expected)


@pytest.mark.parametrize("bound", [448.0, 440.0, 500.0])
def test_I3_clamp_before_the_cast(compiler, bound):
    """Whatever its bounds are."""

    def write(cache, slots, values):
        cache[slots] = values.clamp(-bound, bound).to(cache.dtype)

    check(compiler, write, (zeros(2, 9, dtype=E4M3FN), *one_row(EXTREMES)), (1,))


@pytest.mark.parametrize("dtype", [E4M3FN, E5M2])
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_I4_I12_casts_on_every_gpu(compiler, dtype, target):
    """sm_80 has no fp8 conversion: the cast is computed in integers (SC7)."""
    arguments = (zeros(2, 9, dtype=dtype), *one_row(EXTREMES))
    exported = torch_programs.import_program(
        torch_programs.export_program(flat, arguments)
    )
    options = ("--mutates=0", f"--target={target}", "--emit=ptx")
    done = compiler.run("-", *options, text=exported.text)
    assert done.returncode == 0 and b".entry" in done.stdout
    assert target != "sm_80" or b"e4m3" not in done.stdout


def test_I5_infinity_of_e5m2(compiler):
    """It stays infinity; so do the sign of zero, subnormals, and what is largest."""
    values = [math.inf, -math.inf, -0.0, 2.0**-16, 57344.0, 61439.0, 61440.0, 65504.0]
    arguments = (zeros(2, 8, dtype=E5M2), *one_row(values, torch.float16))
    check(compiler, flat, arguments, (1,))


def test_I6_the_cache_decides_the_encoding(compiler):
    values = [1.0, 2.0, 3.5, 0.25]
    check(compiler, flat, (zeros(2, 4, dtype=E5M2), *one_row(values)), (1,))


def test_I6_another_encoding_is_an_error(compiler):
    text = """
    func.func @f(%c: tensor<2x4xf8E5M2> {bufferization.writable = true},
                 %s: tensor<1xi64>, %v: tensor<1x4xf8E4M3FN>) -> tensor<2x4xf8E5M2> {
      %0 = kv.write at(%s : tensor<1xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<1x4xf8E4M3FN> into %c : tensor<2x4xf8E5M2>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %0 : tensor<2x4xf8E5M2>
    }"""
    done = compiler.run("-", "--target=cpu", "--emit=kv", text=text)
    assert done.returncode == 1 and b"error: " in done.stderr


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_I8_two_encodings_in_one_layer(compiler, fuse):
    """An fnuz cache and an fn cache, in one kernel."""
    text = """
    #row = affine_map<(t, s, d) -> (s, d)>
    func.func @layer(%k: tensor<2x9xf8E4M3FNUZ> {bufferization.writable = true},
                     %i: tensor<2x9xf8E4M3FN> {bufferization.writable = true},
                     %s: tensor<1xi64>, %v: tensor<1x9xf32>)
        -> (tensor<2x9xf8E4M3FNUZ>, tensor<2x9xf8E4M3FN>) {
      %a = kv.cast %v : tensor<1x9xf32> to tensor<1x9xf8E4M3FNUZ>
      %0 = kv.write at(%s : tensor<1xi64>) negative(wrap) out_of_bounds(trap)
        put %a : tensor<1x9xf8E4M3FNUZ> into %k : tensor<2x9xf8E4M3FNUZ> map(#row)
      %b = kv.cast %v saturating : tensor<1x9xf32> to tensor<1x9xf8E4M3FN>
      %1 = kv.write at(%s : tensor<1xi64>) negative(wrap) out_of_bounds(trap)
        put %b : tensor<1x9xf8E4M3FN> into %i : tensor<2x9xf8E4M3FN> map(#row)
      return %0, %1 : tensor<2x9xf8E4M3FNUZ>, tensor<2x9xf8E4M3FN>
    }"""
    compiled = torch_programs.compile_text(compiler, text, f"--fuse={fuse}")
    assert compiled.launches == ((2,) if fuse == "on" else ())
    slots, values = one_row(EXTREMES)
    caches = [zeros(2, 9, dtype=dtype) for dtype in (torch.float8_e4m3fnuz, E4M3FN)]
    got = [torch_programs.guarded(cache) for cache in caches]
    compiled.library.call("layer", *got, slots, values)
    for cache, result in zip(caches, got, strict=True):
        cache.view(torch.uint8)[slots] = values.to(cache.dtype).view(torch.uint8)
        # Any NaN is as good as another (SC6).
        assert torch.equal(
            result.float().nan_to_num(7.0), cache.float().nan_to_num(7.0)
        )


@pytest.mark.parametrize("dtype", [E4M3FN, E5M2])
def test_I9_bytes_of_fp8_on_both_sides(compiler, dtype):
    def write(cache, slots, values):
        page = cache.shape[2]
        place = (slots // page, slice(None), slots % page)
        cache.view(torch.uint8)[place] = values.to(dtype).view(torch.uint8)

    arguments = (zeros(3, 2, 4, 8, dtype=dtype), torch.tensor([5, 0]), rows(2, 2, 8))
    check(compiler, write, arguments, (1,))


def test_I10_index_copy_of_fp8(compiler):
    """Torch's CPU has none; as bytes it has."""

    def write(cache, slots, values):
        cache.index_copy_(0, slots, values)

    def expected(cache, slots, values):
        write(cache.view(torch.uint8), slots, values.view(torch.uint8))

    arguments = (
        zeros(6, 2, 8, dtype=E5M2),
        torch.tensor([5, 0]),
        rows(2, 2, 8, dtype=E5M2),
    )
    check(compiler, write, arguments, (1,), expected=expected)


def test_I11_bytes_are_not_fp8(compiler):
    """bf16 rows into a cache of uint8 are numbers from 0 to 255."""
    values = torch.arange(16, dtype=torch.bfloat16).reshape(2, 8)
    arguments = (zeros(6, 8, dtype=torch.uint8), torch.tensor([5, 0]), values)
    check(compiler, flat, arguments, (1,))


@pytest.mark.parametrize("kind", ["f4E2M1FN", "f8E4M3FN"])
def test_I14_constant_infinity(compiler, kind):
    """Into a type without one: a value or a message, but no crash."""
    text = f"""
    func.func @f(%c: tensor<2x8x{kind}> {{bufferization.writable = true}},
                 %s: tensor<1xi64>) -> tensor<2x8x{kind}> {{
      %inf = arith.constant dense<0xFF800000> : tensor<1x8xf32>
      %v = arith.truncf %inf : tensor<1x8xf32> to tensor<1x8x{kind}>
      %0 = kv.write at(%s : tensor<1xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<1x8x{kind}> into %c : tensor<2x8x{kind}>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %0 : tensor<2x8x{kind}>
    }}"""
    done = compiler.run("-", "--target=cpu", "--emit=llvm", text=text)
    assert done.returncode in (0, 1)
    assert done.returncode == 0 or b"error: " in done.stderr


# J: scales.


def scaled(kc, vc, slots, k, v, ks, vs):
    """K and V divided by scales of their own."""
    kc[slots] = (k / ks).to(kc.dtype)
    vc[slots] = (v / vs).to(vc.dtype)


def scaled_arguments(ks: torch.Tensor, vs: torch.Tensor, k=None) -> tuple:
    k = rows(2, 3, 8, dtype=torch.float32) if k is None else k
    caches = zeros(4, 3, 8, dtype=E4M3FN), zeros(4, 3, 8, dtype=E4M3FN)
    return (*caches, torch.tensor([3, 0]), k, k.clone(), ks, vs)


def test_J1_stored_values(compiler):
    """3 divided by 0.5 and by 2."""
    arguments = scaled_arguments(
        torch.tensor(0.5), torch.tensor(2.0), torch.full((2, 3, 8), 3.0)
    )
    check(compiler, scaled, arguments, (2,))
    caches = [tensor.clone() for tensor in arguments]
    scaled(*caches)
    assert (caches[0][3].float() == 6).all() and (caches[1][3].float() == 1.5).all()


@pytest.mark.parametrize("operation", ["k / s", "k * s", "k * (1 / s)"])
def test_J1_operation_is_kept(compiler, operation):
    """x / s is not x * (1 / s)."""

    def write(cache, slots, k, s):
        cache[slots] = {
            "k / s": lambda: k / s,
            "k * s": lambda: k * s,
            "k * (1 / s)": lambda: k * (1 / s),
        }[operation]()

    arguments = (
        zeros(4, 3, 8, dtype=torch.float32),
        torch.tensor([3, 0]),
        rows(2, 3, 8, dtype=torch.float32),
        torch.tensor(0.3),
    )
    check(compiler, write, arguments, (1,))


def test_J4_fp8_rows_without_a_scale_are_copied(compiler):
    arguments = (zeros(4, 8, dtype=E4M3FN), torch.tensor([3, 0]))
    check(compiler, flat, (*arguments, rows(2, 8, dtype=E4M3FN)), (1,))


def test_J4_fp8_rows_keep_their_scale(compiler):
    def write(cache, slots, values):
        cache[slots] = (values.float() * 0.25).to(cache.dtype)

    arguments = (zeros(4, 8, dtype=E4M3FN), torch.tensor([3, 0]))
    check(compiler, write, (*arguments, rows(2, 8, dtype=E4M3FN)), (1,))


def test_J5_scale_is_a_number(compiler):
    def write(kc, vc, slots, k, v):
        scaled(kc, vc, slots, k, v, 0.5, 2.0)

    check(compiler, write, scaled_arguments(None, None)[:5], (2,))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_J5_scale_has_one_element(compiler, shape):
    scales = torch.full(shape, 0.5), torch.full(shape, 2.0)
    check(compiler, scaled, scaled_arguments(*scales), (2,))


PER_HEAD = torch.tensor([0.5, 2.0, 1.0])


def test_J5_scale_for_each_head_stays_outside(compiler):
    """The importer leaves the division to torch."""
    scales = PER_HEAD[:, None], 1 + PER_HEAD[:, None]
    check(compiler, scaled, scaled_arguments(*scales), (2,))


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_J5_scale_for_each_head_is_refused(compiler, fuse):
    """In IR the write is refused, and runs as a chain."""
    text = """
    func.func @layer(%c: tensor<4x3x8xf8E4M3FN> {bufferization.writable = true},
                     %s: tensor<2xi64>, %v: tensor<2x3x8xf32>, %scale: tensor<3xf32>)
        -> tensor<4x3x8xf8E4M3FN> {
      %e = tensor.empty() : tensor<2x3x8xf32>
      %b = linalg.broadcast ins(%scale : tensor<3xf32>) outs(%e : tensor<2x3x8xf32>)
          dimensions = [0, 2]
      %d = arith.divf %v, %b : tensor<2x3x8xf32>
      %x = kv.cast %d saturating : tensor<2x3x8xf32> to tensor<2x3x8xf8E4M3FN>
      %0 = kv.write at(%s : tensor<2xi64>) negative(wrap) out_of_bounds(trap)
        put %x : tensor<2x3x8xf8E4M3FN> into %c : tensor<4x3x8xf8E4M3FN>
            map(affine_map<(t, s, h, d) -> (s, h, d)>)
      return %0 : tensor<4x3x8xf8E4M3FN>
    }"""
    compiled = torch_programs.compile_text(compiler, text, f"--fuse={fuse}")
    assert compiled.launches == ()
    assert compiled.reasons == (("scale-rank",) if fuse == "on" else ())
    cache, _, slots, k, *_ = scaled_arguments(None, None)
    got = torch_programs.guarded(cache)
    compiled.library.call("layer", got, slots, k, PER_HEAD)
    cache[slots] = (k / PER_HEAD[:, None]).to(cache.dtype)
    assert torch_programs.same_bytes(got, cache)
