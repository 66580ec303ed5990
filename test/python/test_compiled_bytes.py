# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled torch functions leave the bytes that torch leaves, fused or not.

Runs on the first GPU where there is one, else on the CPU.
"""

from collections.abc import Callable

import pytest
import torch
from kvfuse_testing import paged_writes
from kvfuse_testing.paged_writes import Call, Spec, assert_same, choose_slots, make_call

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32

SPECS = {
    "fp8": Spec(),
    "fp8-one-head": Spec(heads=1, head_dim=128, page_size=32),
    "fp8-four-heads": Spec(heads=4, head_dim=128, page_size=32),
    "fp8-nhd": Spec(layout="nhd"),
    "fp8-apart": Spec(storage="apart"),
    "e5m2": Spec(cache_dtype=E5M2),
    "fp8-from-f32": Spec(row_dtype=F32),
    "fp8-from-f16": Spec(row_dtype=F16),
    "bf16": Spec(cache_dtype=BF16, heads=8),
    "bf16-nhd-apart": Spec(cache_dtype=BF16, layout="nhd", storage="apart"),
    "f16-from-f32": Spec(cache_dtype=F16, row_dtype=F32),
    "f32": Spec(cache_dtype=F32, row_dtype=F32),
    "int64-slots": Spec(slot_dtype=torch.int64),
    "narrow-rows": Spec(head_dim=12, cache_dtype=BF16),
    "odd-rows": Spec(head_dim=7),
}
#: Rows reach values that fp8 cannot hold.
SCALE = 300.0


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("name", SPECS)
def test_bytes(name: str, fuse: str) -> None:
    spec = SPECS[name]
    write = paged_writes.compiled(spec, fuse=fuse)
    for seed, tokens in enumerate((1, 0, 8, 33)):
        call = make_call(spec, choose_slots(spec, tokens, seed), seed, scale=SCALE)
        expected = paged_writes.eager_bytes(spec, call)
        assert write(*call.arguments) is None
        assert_same(call.bytes(), expected)


@pytest.mark.parametrize("storage", ["pool", "apart"])
def test_one_launch(storage: str) -> None:
    write = paged_writes.compiled(Spec(storage=storage))
    assert write.launches == 1


def shifted(spec: Spec, tokens: int) -> Call:
    """A call with caches and rows that start one element behind a 16-byte multiple."""
    call = make_call(spec, choose_slots(spec, tokens, 5), seed=5)
    moved, pools = [], []
    for argument in call.arguments[:-1]:
        base = argument.new_zeros(argument.numel() + 1)
        view = base[1:].view(argument.shape)
        view.copy_(argument)
        moved.append(view)
        pools.append(base)
    return Call(pools[: paged_writes.CACHES], [*moved, call.arguments[-1]])


def strided(spec: Spec, tokens: int) -> Call:
    """A call with caches whose rows have gaps between their elements."""
    call = make_call(spec, choose_slots(spec, tokens, 6), seed=6)
    moved, pools = [], []
    for argument in call.arguments[: paged_writes.CACHES]:
        base = argument.new_zeros(*argument.shape, 2)
        base[..., 0].copy_(argument)
        moved.append(base[..., 0])
        pools.append(base)
    return Call(pools, [*moved, *call.arguments[paged_writes.CACHES :]])


@pytest.mark.parametrize("make", [shifted, strided])
def test_layouts_that_the_widest_version_cannot_write(
    make: Callable[[Spec, int], Call],
) -> None:
    spec = Spec()
    write = paged_writes.compiled(spec, count_branches=True)
    for tokens in (9, 20):
        call = make(spec, tokens)
        expected = paged_writes.eager_bytes(spec, call)
        write(*call.arguments)
        assert_same(call.bytes(), expected)
    usual = make_call(spec, choose_slots(spec, 9, 7))
    write(*usual.arguments)
    (site,) = write.counters()["sites"]
    assert site["calls"] == 3, site
    assert site["fused"]["16 bytes"] == 1, site
