# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways in which torch.compile is used, with the backend and with Inductor's pass."""

import contextlib
import logging

import pytest

torch = pytest.importorskip("torch")
from torch._inductor import config
from torch.fx.experimental.proxy_tensor import make_fx

import kvfuse.torch
from kvfuse import torch_match
from kvfuse._options import Options
from kvfuse_testing.torch_graphs import WRITE, recorded, steps

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_cache():
    """[B, S, H, D], 5 pages of 8 tokens."""
    return torch.zeros(5, 8, 2, 16, device=DEVICE, dtype=torch.bfloat16)


def make_rows(tokens, start=1):
    """Slots [T] and rows [T, H, D]."""
    slots = start + torch.arange(tokens, device=DEVICE) * 3
    rows = torch.arange(tokens * 32, device=DEVICE).reshape(tokens, 2, 16) / 4
    return slots, rows


def write(cache, slots, rows):
    page, offset = slots // 8, slots % 8
    cache[page, offset] = rows.to(cache.dtype)


def compare(model, compiled, *steps):
    """Runs the steps (slots and rows) with both, and compares results and caches."""
    caches = make_cache(), make_cache()
    for slots, rows in steps:
        expected = model(caches[0], slots, rows)
        given = compiled(caches[1], slots, rows)
        torch.testing.assert_close(given, expected)
        assert torch.equal(*caches)


@contextlib.contextmanager
def logged(caplog):
    """The messages of kvfuse's logger meanwhile, with their levels."""
    messages = []
    with caplog.at_level(logging.DEBUG, logger="kvfuse"):
        caplog.clear()
        yield messages
    messages += [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name == "kvfuse"
    ]


def test_graph_breaks(backend):
    def model(cache, slots, rows):
        write(cache, slots, rows)
        torch._dynamo.graph_break()
        total = cache.float().sum((0, 1))
        write(cache, slots + 1, rows * 2)
        return total + cache.float().amax((0, 1))

    compare(model, torch.compile(model, backend=backend), make_rows(3), make_rows(3, 2))
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(2, 2, 0)


@pytest.mark.parametrize("how", ["mark", "flag"])
def test_dynamic_token_counts(backend, how):
    """One graph for all numbers of tokens, none included."""

    def model(cache, slots, rows):
        write(cache, slots, rows)
        return cache.float().sum((0, 1))

    steps = [make_rows(tokens) for tokens in (3, 7, 2, 12)]
    if how == "mark":
        torch._dynamo.mark_dynamic(steps[0][0], 0)
        torch._dynamo.mark_dynamic(steps[0][1], 0)
    dynamic = True if how == "flag" else None
    compiled = torch.compile(model, backend=backend, dynamic=dynamic)
    compare(model, compiled, *steps)
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(1, 1, 0)


def test_no_match_is_unchanged_and_said_once(backend, caplog):
    def model(cache, slots, rows):
        return cache.float().sum() + rows.sum((0, 1)) * slots.sum()

    with recorded() as graphs, logged(caplog) as messages:
        compare(model, torch.compile(model, backend=backend), make_rows(3))
    assert [graph.before for graph in graphs] == [graph.after for graph in graphs]
    ((level, message),) = messages
    assert level == logging.DEBUG
    assert "unchanged" in message


def test_refused_writes_stay(backend, caplog):
    """A write that adds is not fused: it stays, its reason is logged, and is an error
    where fusing is required."""

    def model(cache, slots, rows):
        index = (slots // 8, slots % 8)
        cache.index_put_(index, rows.to(cache.dtype), accumulate=True)

    with recorded() as graphs, logged(caplog) as messages:
        compare(model, torch.compile(model, backend=backend), make_rows(3))
    assert [graph.before for graph in graphs] == [graph.after for graph in graphs]
    assert any("accumulate" in message for _, message in messages)
    if backend == "kvfuse":
        targets = [step.target for step in steps(graphs[0].graph)]
        assert "aten.index_put_.default" in targets
        assert "aten.copy_.default" not in targets

    torch._dynamo.reset()
    kvfuse.torch.enable(fuse="required")
    options = {"fuse": "required"} if backend == "kvfuse" else None
    compiled = torch.compile(model, backend=backend, options=options)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="accumulate"):
        compiled(make_cache(), *make_rows(3))


def test_repeated_writes_are_done_once(backend):
    """A write of what is there already goes, with those that it repeats."""

    def model(cache, other, slots, rows):
        write(cache, slots, rows)
        write(other, slots, rows * 2)
        write(cache, slots, rows)
        return cache.float().sum() + other.float().sum()

    caches, expected = ([make_cache(), make_cache()] for _ in range(2))
    inputs = make_rows(3)
    with recorded() as graphs:
        given = torch.compile(model, backend=backend)(*caches, *inputs)
    assert torch.equal(given, model(*expected, *inputs))
    assert all(map(torch.equal, caches, expected))
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(1, 1, 0)
    (graph,) = graphs
    assert not [step for step in graph.after if "index_put" in step.target]


def test_old_and_new_contents_are_kept_apart(backend):
    """What reads before a write sees the old contents, what reads after it the new
    ones; and what is given back is the cache itself."""

    def model(cache, slots, rows):
        old = cache[0] * 2
        whole = cache.float().sum((0, 1))
        write(cache, slots, rows)
        return old, whole, cache[0] * 2, cache.view(torch.int16)

    compiled = torch.compile(model, backend=backend)
    compare(model, compiled, make_rows(3), make_rows(3, 2))
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(1, 1, 0)


def test_gradients_outside_of_the_cache(backend):
    """A graph that is trained: nothing is lost, whatever is fused."""

    def model(cache, slots, rows, weight):
        scaled = rows * weight
        with torch.no_grad():
            write(cache, slots, scaled)
        return (scaled * cache.float().sum((0, 1))).sum()

    results = []
    for run in (model, torch.compile(model, backend=backend)):
        weight = torch.full((16,), 0.5, device=DEVICE, requires_grad=True)
        cache = make_cache()
        with torch.enable_grad():
            loss = run(cache, *make_rows(3), weight)
            loss.backward()
        results.append((loss.detach(), weight.grad, cache))
    torch.testing.assert_close(*results)


def test_reduce_overhead():
    """CUDA-graph trees, where there is a GPU: captured, and replayed with other slots
    and rows. A cache at a fixed address is what they may write."""
    torch._dynamo.reset()

    def model(cache, slots, rows):
        write(cache, slots, rows)
        return cache.float().sum((0, 1))

    caches = make_cache(), make_cache()
    torch._dynamo.mark_static_address(caches[1])
    with config.patch(force_disable_caches=True), torch.no_grad():
        kvfuse.torch.enable()
        try:
            compiled = torch.compile(model, mode="reduce-overhead")
            for start in range(5):
                slots, rows = make_rows(4, start)
                expected = model(caches[0], slots, rows)
                given = compiled(caches[1], slots, rows).clone()
                torch.testing.assert_close(given, expected)
                assert torch.equal(*caches)
        finally:
            kvfuse.torch.disable()
            torch._dynamo.reset()
    assert kvfuse.torch.statistics().sites == 1


def test_backend_has_no_modes():
    with pytest.raises(ValueError, match="mode"):
        kvfuse.torch.backend(None, [], mode="max-autotune")


def test_operation_is_declared_as_it_is():
    """torch's own checks of the schema, the fake kernel and the declared mutation."""

    def model(cache, slots, rows):
        write(cache, slots, rows)

    torch._dynamo.reset()
    with recorded() as graphs, torch.no_grad():
        torch.compile(model, backend="kvfuse")(make_cache(), *make_rows(3))
    (call,) = graphs[0].graph.find_nodes(op="call_function", target=WRITE)
    slots, rows = make_rows(3)
    tests = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(
        WRITE, (call.args[0], [make_cache()], [rows, slots], []), test_utils=tests
    )


def test_graphs_that_write_through_views_are_not_matched():
    """torch.compile makes none; others may be given to the same code."""

    def model(cache, rows):
        cache[0].copy_(rows)

    inputs = torch.zeros(3, 4), torch.ones(4)
    graph = make_fx(model, tracing_mode="fake")(*inputs)
    with pytest.raises(kvfuse.CompileError, match="writes through views"):
        torch_match.match(graph, Options(), "cpu")
