# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call does to the device: one kernel, on the caller's stream, no memory."""

import dataclasses
import threading

import kvfuse
import pytest
import torch
from kvfuse_testing import paged_writes
from kvfuse_testing.paged_writes import Call, Spec, assert_same, choose_slots, make_call
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile
from versions import alternatives, pick_by_tokens

SPEC = Spec()
CALLS = 5
#: Keeps a stream busy for about half a second.
LONG = 1_000_000_000


@pytest.fixture(scope="module")
def write() -> kvfuse.Compiled:
    """The fused write."""
    return paged_writes.compiled(SPEC)


def usual_call(seed: int = 0) -> Call:
    """A call and its caches."""
    return make_call(SPEC, choose_slots(SPEC, 11, seed), seed)


def kernels_of(write: kvfuse.Compiled, call: Call) -> list[str]:
    """The names of the kernels of some calls."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        for _ in range(CALLS):
            write(*call.arguments)
        torch.cuda.synchronize()
    return [e.name for e in seen.events() if e.device_type == DeviceType.CUDA]


def test_one_kernel_a_call(write: kvfuse.Compiled) -> None:
    call = usual_call()
    write(*call.arguments)
    names = kernels_of(write, call)
    assert len(names) == CALLS, names
    assert all("kv_write" in name for name in names), names


def test_the_chain_launches_what_the_report_says() -> None:
    chain = paged_writes.compiled(SPEC, fuse="off")
    call = usual_call()
    chain(*call.arguments)
    names = kernels_of(chain, call)
    assert len(names) == CALLS * chain.launches_unfused, names


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_long_steps_have_kernels_of_their_own(more: int) -> None:
    spec = Spec(heads=4, head_dim=128)
    write = paged_writes.compiled(spec)
    kernels = write.report["kernels"]
    widest = alternatives(kernels, kernels[0])
    limits = [kernel["min_tokens"] for kernel in widest if "min_tokens" in kernel]
    assert limits
    for tokens in (limit + more for limit in limits):
        sized = dataclasses.replace(spec, pages=tokens // spec.page_size + 2)
        call = make_call(sized, choose_slots(sized, tokens, 0))
        expected = paged_writes.eager_bytes(sized, call)
        launched = pick_by_tokens(widest, tokens)
        assert set(kernels_of(write, call)) == {launched["name"]}
        assert_same(call.bytes(), expected)


def allocations() -> int:
    """How often torch's allocator was asked for memory.

    That the driver was not asked either is what a capture in global mode tests.
    """
    return torch.cuda.memory_stats()["allocation.all.allocated"]


def test_the_fused_call_allocates_nothing(write: kvfuse.Compiled) -> None:
    call = usual_call()
    write(*call.arguments)
    before = allocations()
    for _ in range(CALLS):
        write(*call.arguments)
    assert allocations() == before


def test_temporaries_come_from_torch() -> None:
    chain = paged_writes.compiled(SPEC, fuse="off")
    call = usual_call()
    expected = paged_writes.eager_bytes(SPEC, call)
    chain(*call.arguments)
    torch.cuda.synchronize()
    before = allocations()
    held = torch.cuda.memory_allocated()
    for _ in range(CALLS):
        chain(*call.arguments)
    torch.cuda.synchronize()
    assert allocations() > before
    assert torch.cuda.memory_allocated() == held
    assert_same(call.bytes(), expected)


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_calls_do_not_wait_for_the_device(fuse: str) -> None:
    write = paged_writes.compiled(SPEC, fuse=fuse)
    call = usual_call()
    expected = paged_writes.eager_bytes(SPEC, call)
    write(*call.arguments)
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG)
    slept = torch.cuda.Event()
    slept.record()
    write(*call.arguments)
    assert not slept.query(), "the call came back after the kernel before it had ended"
    assert_same(call.bytes(), expected)


def test_the_callers_stream_is_used(write: kvfuse.Compiled) -> None:
    call = usual_call()
    expected = paged_writes.eager_bytes(SPEC, call)
    busy, free = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(busy):
        torch.cuda._sleep(LONG)
        slept = torch.cuda.Event()
        slept.record()
    with torch.cuda.stream(free):
        write(*call.arguments)
        free.synchronize()
        assert not slept.query(), "the write waited for another stream"
        copies = [pool.clone() for pool in call.pools]
        free.synchronize()
    assert_same([copy.view(torch.uint8).cpu() for copy in copies], expected)


def test_the_order_on_a_stream_is_kept(write: kvfuse.Compiled) -> None:
    call = usual_call()
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG // 10)
        call.set_rows(seed=70)
        expected = [pool.clone() for pool in call.pools]
        paged = [view for pool in expected for view in views_of(pool)]
        SPEC.function(*paged, *call.arguments[paged_writes.CACHES :])
        write(*call.arguments)
    side.synchronize()
    wanted = [pool.view(torch.uint8).cpu() for pool in expected]
    assert_same(call.bytes(), wanted)


def views_of(pool: torch.Tensor) -> list[torch.Tensor]:
    """The caches in a pool of `SPEC`."""
    return [pool[:, 0], pool[:, 1]] if pool.dim() == 5 else [pool]


def test_many_streams(write: kvfuse.Compiled) -> None:
    calls = [usual_call(seed) for seed in range(8)]
    expected = [paged_writes.eager_bytes(SPEC, call) for call in calls]
    streams = [torch.cuda.Stream() for _ in calls]
    torch.cuda.synchronize()
    for _ in range(20):
        for call, stream in zip(calls, streams, strict=True):
            with torch.cuda.stream(stream):
                write(*call.arguments)
    torch.cuda.synchronize()
    for call, wanted in zip(calls, expected, strict=True):
        assert_same(call.bytes(), wanted)


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_many_threads(fuse: str) -> None:
    """Eight threads call a function at once, each on a stream of its own."""
    spec = Spec(heads=5)
    write = paged_writes.compiled(spec, fuse=fuse)
    calls = [make_call(spec, choose_slots(spec, 13, n), n) for n in range(8)]
    expected = [paged_writes.eager_bytes(spec, call) for call in calls]
    torch.cuda.synchronize()
    start, errors = threading.Barrier(len(calls)), []

    def work(call: Call) -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                start.wait()
                for _ in range(50):
                    write(*call.arguments)
                torch.cuda.current_stream().synchronize()
        except BaseException as error:  # noqa: BLE001  Reported by the test.
            errors.append(error)

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    for call, wanted in zip(calls, expected, strict=True):
        assert_same(call.bytes(), wanted)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_devices() -> None:
    """A function compiled on the first GPU runs on the second, too."""
    write = paged_writes.compiled(SPEC)
    for number in (1, 0, 1):
        on = torch.device("cuda", number)
        call = make_call(SPEC, choose_slots(SPEC, 9, number), number, on=on)
        expected = paged_writes.eager_bytes(SPEC, call)
        write(*call.arguments)
        assert_same(call.bytes(), expected)
        assert torch.cuda.current_device() == 0


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_caches_on_two_devices(write: kvfuse.Compiled) -> None:
    call = usual_call()
    before = call.bytes()
    arguments = list(call.arguments)
    arguments[1] = arguments[1].to("cuda:1")
    with pytest.raises(ValueError, match="'v_cache'"):
        write(*arguments)
    assert_same(call.bytes(), before)
