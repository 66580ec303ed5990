# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled writes in CUDA graphs: capture once, replay with other contents."""

from collections.abc import Callable

import pytest
import torch
from kvfuse_testing import paged_writes
from kvfuse_testing.paged_writes import Call, Spec, assert_same, choose_slots, make_call

SPEC = Spec()
#: Tokens that a graph is captured for.
CAPTURED = 24
#: How padding is marked -> the options that say so, and the slot of padding.
PADDING = {
    "negative": ({"negative": "skip"}, -1),
    "reserved": ({"reserved_slot": 0}, 0),
}


def capture(*calls: Callable[[], object]) -> torch.cuda.CUDAGraph:
    """A graph of the calls. Nothing ran before, and nothing unsafe is let pass."""
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, capture_error_mode="global"):
        for call in calls:
            call()
    return graph


def fill(call: Call, slots: list[int], padding: int, seed: int) -> None:
    """Gives a captured call other values and slots; the rest is padding."""
    call.set_rows(seed)
    padded = slots + [padding] * (CAPTURED - len(slots))
    call.arguments[-1].copy_(torch.tensor(padded, dtype=SPEC.slot_dtype))


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("padding", PADDING)
def test_replay_with_changed_slots_values_and_tokens(padding: str, fuse: str) -> None:
    options, slot = PADDING[padding]
    write = paged_writes.compiled(SPEC, fuse=fuse, **options)
    call = make_call(SPEC, choose_slots(SPEC, CAPTURED, 0))
    before = call.bytes()
    graph = capture(lambda: write(*call.arguments))
    assert_same(call.bytes(), before)
    for seed, tokens in enumerate((CAPTURED, 7, 1, 0, 16)):
        fill(call, choose_slots(SPEC, tokens, seed), slot, seed)
        expected = paged_writes.eager_bytes(SPEC, call, tokens)
        graph.replay()
        assert_same(call.bytes(), expected)


@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
def test_capture_with_an_empty_batch() -> None:
    write = paged_writes.compiled(SPEC)
    call = make_call(SPEC, [])
    before = call.bytes()
    seen = torch.zeros(1, device=call.pools[0].device)
    graph = capture(lambda: write(*call.arguments), lambda: seen.add_(1))
    for _ in range(3):
        graph.replay()
    assert_same(call.bytes(), before)
    assert seen.item() == 3
    alone = capture(lambda: write(*call.arguments))
    alone.replay()
    assert_same(call.bytes(), before)


def test_two_graphs_share_a_module() -> None:
    write = paged_writes.compiled(SPEC, negative="skip")
    calls = [
        make_call(SPEC, choose_slots(SPEC, CAPTURED, seed), seed) for seed in range(2)
    ]
    graphs = [capture(lambda call=call: write(*call.arguments)) for call in calls]
    for seed in range(4):
        for number, (call, graph) in enumerate(zip(calls, graphs, strict=True)):
            fill(call, choose_slots(SPEC, 5 + seed, seed + number), -1, seed)
            expected = paged_writes.eager_bytes(SPEC, call, 5 + seed)
            graph.replay()
            assert_same(call.bytes(), expected)


def test_a_graph_outlives_the_other_and_the_first_calls() -> None:
    write = paged_writes.compiled(SPEC)
    kept, dropped = (make_call(SPEC, choose_slots(SPEC, 9, n), n) for n in range(2))
    graph = capture(lambda: write(*kept.arguments))
    other = capture(lambda: write(*dropped.arguments))
    other.replay()
    torch.cuda.synchronize()
    del other
    expected = paged_writes.eager_bytes(SPEC, kept)
    graph.replay()
    assert_same(kept.bytes(), expected)


def test_capture_of_many_layers() -> None:
    write = paged_writes.compiled(SPEC)
    calls = [make_call(SPEC, choose_slots(SPEC, 9, n), n) for n in range(60)]
    expected = [paged_writes.eager_bytes(SPEC, call) for call in calls]
    graph = capture(*[lambda call=call: write(*call.arguments) for call in calls])
    graph.replay()
    for call, wanted in zip(calls, expected, strict=True):
        assert_same(call.bytes(), wanted)


def test_wrong_arguments_under_capture() -> None:
    write = paged_writes.compiled(SPEC)
    call = make_call(SPEC, choose_slots(SPEC, 9, 0))
    seen = torch.zeros(1, device=call.pools[0].device)

    def call_wrongly() -> None:
        with pytest.raises((TypeError, ValueError), match="'slots'"):
            write(*call.arguments[:-1], call.arguments[-1].long())

    before = call.bytes()
    graph = capture(call_wrongly, lambda: seen.add_(1))
    graph.replay()
    assert_same(call.bytes(), before)
    assert seen.item() == 1


def test_loaded_before_the_first_call() -> None:
    """Nothing is loaded in the first call, which a capture in global mode forbids."""
    write = paged_writes.compiled(Spec(heads=3))
    call = make_call(Spec(heads=3), choose_slots(Spec(heads=3), 9, 0))
    expected = paged_writes.eager_bytes(Spec(heads=3), call)
    graph = capture(lambda: write(*call.arguments))
    graph.replay()
    assert_same(call.bytes(), expected)
