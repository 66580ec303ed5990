# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had: slots, page arithmetic, shapes.

A test has the number of its case. Sections A, C and H are here, I and J in
test_cases_types.py, K, L and N in test_cases_programs.py, M in
test_cases_matching.py. What is not here:

- A8 (a drop mode that wraps) is about StableHLO's scatter, which no front door
  reads yet.
- Strides that are known at run time only (D, E, F, G) are the layouts' concern.
"""

import pytest
import torch

from kvfuse_testing import torch_programs
from kvfuse_testing.cases_torch import (
    check,
    check_bytes,
    check_traps,
    compile_function,
    head_major,
    paged,
    rows,
    zeros,
)

E4M3FN = torch.float8_e4m3fn


def two_rows(*shape: int) -> torch.Tensor:
    """Row 0 of ones, row 1 of nines."""
    return (
        torch.tensor([1.0, 9.0]).reshape(2, 1, 1).expand(2, *shape).to(torch.bfloat16)
    )


# A: slot values.


A1 = (zeros(4, 16, 2, 8), torch.tensor([5, -1]), two_rows(2, 8))


def test_A1_wraps(compiler):
    """Slot -1 is the last row of the last page, as index_put has it."""
    check(compiler, paged, A1, (1,))


def test_A1_reserved(compiler):
    """A declared padding slot is left out."""

    def expected(cache, slots, values):
        paged(cache, slots[:1], values[:1])

    check(compiler, paged, A1, (1,), "--reserved-slot=-1", expected=expected)


def test_A1_mask(compiler):
    """So is what the program itself masks."""

    def write(cache, slots, values):
        real = slots != -1
        slots = slots[real]
        cache[slots // 16, slots % 16] = values[real]

    check(compiler, write, A1, (1,))


def test_A2_sign_is_tested_in_every_cache(compiler):
    """Padding writes neither below the base nor anywhere else."""

    def write(kc, vc, ic, slots, k, v, i):
        head_major(kc, slots, k)
        head_major(vc, slots, v)
        head_major(ic, slots, i)

    def expected(kc, vc, ic, slots, k, v, i):
        real = slots >= 0
        write(kc, vc, ic, slots[real], k[real], v[real], i[real])

    caches = [zeros(2, 2, 128, 128, dtype=E4M3FN) for _ in "kv"]
    caches.append(zeros(2, 1, 128, 128, dtype=E4M3FN))
    values = [rows(3, 2, 128, seed=1), rows(3, 2, 128, seed=2), rows(3, 1, 128)]
    arguments = (*caches, torch.tensor([0, -1, -1]), *values)
    check(compiler, write, arguments, (3,), "--negative=skip", expected=expected)


def test_A3_reserved_slot_keeps_its_bytes(compiler):
    """NaNs of padding rows do not reach the reserved page, nor its scales."""

    def write(kc, sc, slots, k, s):
        paged(kc, slots, k)
        paged(sc, slots, s)

    def expected(kc, sc, slots, k, s):
        write(kc, sc, slots[:1], k[:1], s[:1])

    k, s = rows(4, 2, 8), rows(4, 2, 1, dtype=torch.float32)
    k[1:], s[1:] = float("nan"), float("nan")
    caches = zeros(3, 4, 2, 8), zeros(3, 4, 2, 1, dtype=torch.float32)
    arguments = (*caches, torch.tensor([7, 0, 0, 0]), k, s)
    check(compiler, write, arguments, (2,), "--reserved-slot=0", expected=expected)


A6 = (zeros(2, 16, 1, 8), torch.tensor([31, 32]), two_rows(1, 8))


def test_A6_slot_beyond_the_cache_traps(compiler):
    check_traps(compiler, paged, A6, lambda c, s, v: paged(c, s[:1], v[:1]))


def test_A6_slot_beyond_the_cache_is_skipped(compiler):
    def expected(cache, slots, values):
        paged(cache, slots[:1], values[:1])

    check(compiler, paged, A6, (1,), "--out-of-bounds=skip", expected=expected)


def test_A7_invalid_index_fails_as_in_torch(compiler):
    """Torch raises, and so does the compiled call; nothing is written."""
    arguments = (zeros(2, 16, 1, 8), torch.tensor([40]), rows(1, 1, 8))
    with pytest.raises(IndexError):
        paged(*(tensor.clone() for tensor in arguments))
    check_traps(compiler, paged, arguments, lambda c, s, v: None)


A10 = {
    "same rows": lambda cache, slots: cache.index_put_((slots,), cache[slots] * 2),
    "another page": lambda cache, slots: paged(cache, slots, cache[0, :2] * 2),
}


@pytest.mark.parametrize("write", A10.values(), ids=A10)
def test_A10_values_read_from_the_cache(compiler, write):
    """A row that is doubled and named twice is not doubled twice: the values are
    read before, or the write is refused by name."""
    arguments = (rows(8, 4, 2, 8), torch.tensor([3, 4]))
    check_bytes(compiler, write, arguments, ["alias-value", "old-cache-live"])


def one_of(stored: torch.Tensor, candidates: list[torch.Tensor]) -> bool:
    """Is each element that of one of the candidates (SX7)?"""
    return bool(torch.stack([stored == row for row in candidates]).any(dim=0).all())


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_A11_duplicates_hold_one_of_their_rows(compiler, fuse):
    arguments = (zeros(2, 4, 2, 8), torch.tensor([4, 4]), two_rows(2, 8))
    compiled, exported = compile_function(compiler, paged, arguments, fuse=fuse)
    got = [torch_programs.guarded(tensor) for tensor in arguments]
    (result, *_) = torch_programs.run(compiled, exported, got)
    assert one_of(result[1, 0], list(arguments[2]))
    result[1, 0] = 0
    assert not result.any()


def test_A11_accumulation_is_refused(compiler):
    def write(cache, slots, values):
        cache.index_put_((slots // 4, slots % 4), values, accumulate=True)

    arguments = (zeros(2, 4, 2, 8), torch.tensor([4, 4]), two_rows(2, 8))
    check(compiler, write, arguments, (), reasons=["accumulate"])


# C: page arithmetic.


def wrong_page(cache, slots, values):
    """Pages of 16 in the program, of 4 in the cache [B, P, H, D]."""
    cache[slots // 16, slots % 16] = values


def test_C1_offset_in_a_smaller_page(compiler):
    """Each coordinate is tested against its own dimension: offset 11 of 4 is
    outside, not a row of the next page."""
    cache, values = zeros(8, 4, 2, 8), rows(2, 2, 8)
    arguments = (cache, torch.tensor([33, 43]), values)
    first = lambda c, s, v: wrong_page(c, s[:1], v[:1])
    check_traps(compiler, wrong_page, arguments, first)
    check(compiler, wrong_page, arguments, (1,), "--out-of-bounds=skip", expected=first)


def test_C2_two_page_sizes(compiler):
    """One slot vector, two maps, one kernel."""

    def write(kc, ic, slots, k, i):
        paged(kc, slots, k)
        paged(ic, slots, i)

    caches = zeros(3, 16, 2, 8), zeros(12, 4, 1, 8)
    arguments = (*caches, torch.tensor([5, 47, 0]), rows(3, 2, 8), rows(3, 1, 8))
    check(compiler, write, arguments, (2,))


def divided(page, offset):
    """A write whose page and offset are computed by two functions."""

    def write(cache, slots, values):
        cache[page(slots), offset(slots)] = values

    return write


def truncated(slots):
    return torch.div(slots, 16, rounding_mode="trunc")


C5 = (zeros(3, 16, 2, 8), torch.tensor([-1, 17]), rows(2, 2, 8))


@pytest.mark.parametrize(
    ("page", "offset"),
    [
        (truncated, lambda s: s % 16),
        (lambda s: s // 16, lambda s: torch.fmod(s, 16)),
        (truncated, lambda s: torch.fmod(s, 16)),
    ],
    ids=["trunc-mod", "floor-rem", "trunc-rem"],
)
def test_C5_truncation_is_refused(compiler, page, offset):
    """Slot -1 truncated is page 0, offset -1: another row than floor's."""
    check(compiler, divided(page, offset), C5, (), reasons=["mixed-division"])


def test_C5_truncation_of_what_is_not_negative(compiler):
    write = divided(
        lambda s: truncated(s.clamp(min=0)), lambda s: torch.fmod(s.clamp(min=0), 16)
    )
    check(compiler, write, C5, (1,))


@pytest.mark.parametrize("slot", [-(2**63), 2**63 - 1])
def test_C6_extreme_slots_trap(compiler, slot):
    arguments = (zeros(3, 16, 2, 8), torch.tensor([4, slot]), rows(2, 2, 8))
    check_traps(compiler, paged, arguments, lambda c, s, v: paged(c, s[:1], v[:1]))


@pytest.mark.parametrize("divisor", [0, -4])
def test_C6_divisor_that_is_not_positive(compiler, divisor):
    """The operation cannot be built."""
    text = f"""
    func.func @f(%s: tensor<?xi64>) -> tensor<?xi64> {{
      %0 = kv.apply affine_map<(s) -> (s floordiv {divisor})>(%s) : tensor<?xi64>
      return %0 : tensor<?xi64>
    }}"""
    done = compiler.run("-", "--target=cpu", "--emit=kv", text=text)
    assert done.returncode == 1
    assert b"error: " in done.stderr


@pytest.mark.parametrize("page", [1, 3, 16, 48, 528, 544, 768])
def test_C7_any_page_size(compiler, page):
    slots = torch.tensor(sorted({0, page - 1, page, 2 * page + 1}))
    arguments = (zeros(4, page, 2, 8), slots, rows(len(slots), 2, 8))
    check(compiler, paged, arguments, (1,))


# H: K, V and index-K that differ.


def test_H1_head_dimensions_differ(compiler):
    def write(kc, vc, slots, k, v):
        paged(kc, slots, k)
        paged(vc, slots, v)

    caches = zeros(4, 4, 2, 24), zeros(4, 4, 2, 16)
    arguments = (*caches, torch.tensor([3, 9, 15]), rows(3, 2, 24), rows(3, 2, 16))
    check(compiler, write, arguments, (2,))


def test_H2_two_page_sizes_in_one_buffer(compiler):
    """What the two writes name may be the same memory: they stay apart, in their
    order, as two kernels."""

    def write(buffer, slots, k, v):
        paged(buffer.view(4, 16, 1, 8), slots, k)
        paged(buffer.view(2, 32, 1, 8), slots, v)

    arguments = (zeros(512), torch.tensor([32]), rows(1, 1, 8), rows(1, 1, 8, seed=1))
    check(compiler, write, arguments, (1, 1), reasons=["dest-alias"])


def test_H3_rows_wider_than_the_cache(compiler):
    """A mismatch is an error, never a part of the row."""
    arguments = (zeros(2, 4, 2, 8), torch.tensor([1]), rows(1, 2, 16))
    with pytest.raises(RuntimeError, match="shape mismatch"):
        paged(*arguments)
    compiled, _ = compile_function(compiler, paged, arguments)
    assert (compiled.launches, compiled.reasons) == ((), ("index-unknown",))
    text = """
    func.func @f(%c: tensor<?x8xf32> {bufferization.writable = true},
                 %s: tensor<?xi64>, %v: tensor<?x16xf32>) -> tensor<?x8xf32> {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x16xf32> into %c : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %0 : tensor<?x8xf32>
    }"""
    done = compiler.run("-", "--target=cpu", "--emit=kv", text=text)
    assert done.returncode == 1
    assert b"SX10" in done.stderr


@pytest.mark.parametrize("present", ["k", "v", "ki", "vi", "kvi"])
def test_H5_any_subset(compiler, present):
    """A layer without a V cache, or with one write alone."""

    def write(*tensors):
        *rest, slots = tensors
        for cache, values in zip(
            rest[: len(present)], rest[len(present) :], strict=True
        ):
            head_major(cache, slots, values)

    heads = {"k": 3, "v": 3, "i": 1}
    caches = [zeros(4, heads[name], 4, 8) for name in present]
    values = [rows(3, heads[name], 8, seed=n) for n, name in enumerate(present)]
    arguments = (*caches, *values, torch.tensor([2, 15, 8]))
    check(compiler, write, arguments, (len(present),))
