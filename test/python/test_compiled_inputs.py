# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong arguments of a compiled function: an error that names them, nothing written.

Runs on the first GPU where there is one, else on the CPU.
"""

from collections.abc import Callable

import kvfuse
import pytest
import torch
from kvfuse_testing import paged_writes
from kvfuse_testing.paged_writes import (
    NAMES,
    Call,
    Spec,
    assert_same,
    choose_slots,
    make_call,
)

SPEC = Spec()
TOKENS = 8
OVERLAP = r"SM8: .*\('k_cache'\) and 1 \('v_cache'\) overlap"
Change = Callable[[torch.Tensor], torch.Tensor]

#: What is wrong -> the argument, and how the right one becomes wrong.
WRONG: dict[str, tuple[str, Change]] = {
    "dtype of a cache": ("k_cache", lambda x: x.view(torch.uint8)),
    "fp8 of another kind": ("v_cache", lambda x: x.view(torch.float8_e5m2)),
    "dtype of rows": ("k", lambda x: x.float()),
    "dtype of slots": ("slots", lambda x: x.to(torch.int64)),
    "floating-point slots": ("slots", lambda x: x.float()),
    "rank of a cache": ("k_cache", lambda x: x[0]),
    "rank of rows": ("v", lambda x: x.flatten(1)),
    "rank of slots": ("slots", lambda x: x[:, None]),
    "head dimension": ("index_k", lambda x: x[..., :-1]),
    "heads of a cache": ("v_cache", lambda x: x[:, :1]),
    "page size": ("index_cache", lambda x: x[:, :, :-1]),
    "no tensor": ("k", lambda _: 3.0),
    "nothing": ("slots", lambda _: None),
}


@pytest.fixture(scope="module", params=["first call", "later call"])
def write(request: pytest.FixtureRequest) -> kvfuse.Compiled:
    """The compiled write; calls take a shorter way after one that went well."""
    compiled = paged_writes.compiled(SPEC)
    if request.param == "later call":
        compiled(*usual_call().arguments)
    return compiled


def expect_error(
    write: kvfuse.Compiled, call: Call, arguments: list, match: str
) -> None:
    """Calling raises TypeError or ValueError, and leaves all bytes as they were."""
    before = call.bytes()
    with pytest.raises((TypeError, ValueError), match=match):
        write(*arguments)
    assert_same(call.bytes(), before)


def usual_call(seed: int = 0) -> Call:
    """A call with nothing wrong."""
    return make_call(SPEC, choose_slots(SPEC, TOKENS, seed), seed)


@pytest.mark.parametrize("what", WRONG)
def test_wrong_argument(write: kvfuse.Compiled, what: str) -> None:
    name, change = WRONG[what]
    call = usual_call()
    arguments: list = list(call.arguments)
    arguments[NAMES.index(name)] = change(arguments[NAMES.index(name)])
    expect_error(write, call, arguments, f"'{name}'")


@pytest.mark.parametrize("name", ["k", "v", "index_k"])
def test_too_few_tokens(write: kvfuse.Compiled, name: str) -> None:
    call = usual_call()
    arguments = list(call.arguments)
    arguments[NAMES.index(name)] = arguments[NAMES.index(name)][:-1]
    expect_error(write, call, arguments, f"SX10: .*'{name}', 'slots'")


@pytest.mark.parametrize(
    ("count", "match"), [(0, "'k_cache'"), (6, "'slots'"), (8, "positional arguments")]
)
def test_number_of_arguments(write: kvfuse.Compiled, count: int, match: str) -> None:
    call = usual_call()
    arguments = [*call.arguments, call.arguments[-1]][:count]
    expect_error(write, call, arguments, match)


def test_overlapping_caches(write: kvfuse.Compiled) -> None:
    call = usual_call()
    arguments = list(call.arguments)
    arguments[1] = arguments[0]
    expect_error(write, call, arguments, OVERLAP)


def test_partly_overlapping_caches(write: kvfuse.Compiled) -> None:
    call = usual_call()
    arguments = list(call.arguments)
    base = arguments[0].new_zeros(arguments[0].numel() + 256)
    shape = arguments[0].shape
    arguments[0] = base[:-256].view(shape)
    arguments[1] = base[256:].view(shape)
    expect_error(write, Call([*call.pools, base], arguments), arguments, OVERLAP)


def test_interleaved_caches_do_not_overlap(write: kvfuse.Compiled) -> None:
    call = usual_call()
    expected = paged_writes.eager_bytes(SPEC, call)
    write(*call.arguments)
    assert_same(call.bytes(), expected)


@pytest.mark.parametrize("name", NAMES)
def test_one_tensor_on_the_cpu(write: kvfuse.Compiled, name: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    call = usual_call()
    arguments = list(call.arguments)
    arguments[NAMES.index(name)] = arguments[NAMES.index(name)].cpu()
    expect_error(write, call, arguments, f"'{name}'")


def test_all_tensors_on_the_cpu(write: kvfuse.Compiled) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    call = make_call(SPEC, choose_slots(SPEC, TOKENS, 0), on=torch.device("cpu"))
    expect_error(write, call, call.arguments, "'k_cache'")


def test_slots_on_another_gpu(write: kvfuse.Compiled) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    call = usual_call()
    arguments = list(call.arguments)
    arguments[-1] = arguments[-1].to("cuda:1")
    expect_error(write, call, arguments, "'slots'")
