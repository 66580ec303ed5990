# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several groups of writes to one pool in one graph of torch.compile: K and V with a
reader between them, two steps, layers that share a pool. Each group is one call on the
pool itself, which is never copied."""

import logging
import re

import pytest

torch = pytest.importorskip("torch")
from torch._inductor import config
from torch._inductor.utils import run_and_get_code

import kvfuse.torch
from kvfuse_testing.torch_graphs import recorded

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PAGES, PAGE, HEADS, DIM = 7, 8, 2, 16
LAYERS, TOKENS = 3, 3

#: What makes new contents, or copies some, in a graph.
COPIES = re.compile(r"aten\.(clone|copy|index_put|\w+_scatter)\b|auto_functionalized")


def make_pool(*sizes, dtype=torch.bfloat16):
    """[*sizes, PAGE, HEADS, DIM], bytes of which none is a NaN."""
    shape = (*sizes, PAGE, HEADS, DIM)
    values = torch.arange(torch.Size(shape).numel(), device=DEVICE) % 31
    return values.reshape(shape).to(dtype)


def make_step(start=0):
    """Slots [T] and rows [T, H, D]."""
    slots = start + torch.arange(TOKENS, device=DEVICE) * 5
    rows = torch.arange(TOKENS * HEADS * DIM, device=DEVICE) - start
    return slots, rows.reshape(TOKENS, HEADS, DIM) / 4


def write(cache, slots, rows):
    cache[slots // PAGE, slots % PAGE] = rows.to(cache.dtype)


def attend(cache, queries):
    """[T, H, D] from a cache [B, S, H, D], of which all rows are read."""
    return queries * cache.float().mean((0, 1)) / 16


def with_a_reader_between(pool, slots, rows):
    """V's rows are computed from all that is in the pool once K is."""
    write(pool[:, 0], slots, rows)
    mixed = rows + pool.float().amax((0, 1, 2))
    write(pool[:, 1], slots, mixed)
    return attend(pool[:, 1], mixed)


def in_two_steps(pool, slots, rows, next_slots):
    """K and V of one step, then of the next one, whose rows are the result."""
    outputs = []
    for where in (slots, next_slots):
        write(pool[:, 0], where, rows)
        write(pool[:, 1], where, rows * 2)
        rows = attend(pool[:, 0], rows) + attend(pool[:, 1], rows)
        outputs.append(rows)
    return torch.stack(outputs)


def by_layers(pool, slots, rows):
    """Layers with slices of one pool, each read by its own."""
    for layer in pool:
        write(layer[:, 0], slots, rows)
        write(layer[:, 1], slots, rows / 2)
        rows = rows + attend(layer[:, 0], rows) - attend(layer[:, 1], rows)
    return rows


def read_early_and_used_late(pool, slots, rows, next_slots):
    """What is read before a write is needed after it alone: Inductor moves the reader
    there."""
    before = pool.float().amax((0, 1))
    write(pool[:, 0], slots, rows)
    between = attend(pool[:, 0], rows)
    write(pool[:, 0], next_slots, rows * 2)
    return attend(pool[:, 0], rows) * between.sum() - before[:1]


def written_twice(pool, slots, rows):
    """K is written again by who cannot know that it is there."""
    write(pool[:, 0], slots, rows)
    write(pool[:, 1], slots, rows / 2)
    mixed = attend(pool[:, 0], rows)
    write(pool[:, 0], slots, rows)
    return mixed - attend(pool[:, 0], rows)


def with_an_index_cache(pool, index, slots, rows):
    """K and V in a pool and index-K apart from it, which is read first; twice."""
    for scale in (1, 2):
        write(index, slots, rows * scale)
        write(pool[:, 0], slots, rows)
        rows = rows + attend(index, rows)
        write(pool[:, 1], slots, rows)
        rows = rows + attend(pool[:, 0], rows) - attend(pool[:, 1], rows)
        slots = slots + 1
    return rows


def compile_and_compare(model, backend, pools, *others):
    """Runs `model` as it is and compiled on copies of `pools`; the rewritten graph,
    the code (none, but for Inductor) and the statistics."""
    expected_pools = [pool.clone() for pool in pools]
    expected = model(*expected_pools, *others)
    with recorded() as graphs:
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        given, code = run_and_get_code(compiled, *pools, *others)
    torch.testing.assert_close(given, expected, rtol=1e-5, atol=1e-4)
    for pool, wanted in zip(pools, expected_pools, strict=True):
        # Inductor has its own order of additions, which a row may show.
        tolerance = 0 if backend == "kvfuse" else 2**-7
        torch.testing.assert_close(pool, wanted, rtol=tolerance, atol=0)
    (graph,) = graphs
    return graph.graph, code, kvfuse.torch.statistics()


def find_copies(graph, pools):
    """The nodes that have contents of the size of a pool, other than readers."""
    sizes = {pool.numel() for pool in pools}
    return [
        node
        for node in graph.nodes
        if COPIES.search(str(node.target))
        and getattr(node.meta.get("val"), "numel", int)() in sizes
        # Into itself, which Inductor knows to be nothing.
        and node.args[0] is not node.args[1]
    ]


CASES = {
    "reader-between": (with_a_reader_between, [(PAGES, 2)], 0, 2),
    "two-steps": (in_two_steps, [(PAGES, 2)], 1, 2),
    "used-late": (read_early_and_used_late, [(PAGES, 2)], 1, 2),
    "repeated": (written_twice, [(PAGES, 2)], 0, 1),
    "layers": (by_layers, [(LAYERS, PAGES, 2)], 0, LAYERS),
    "index-cache": (with_an_index_cache, [(PAGES, 2), (PAGES,)], 0, 4),
}


@pytest.mark.parametrize("case", CASES)
def test_each_group_is_a_call_on_the_pool(backend, case):
    model, sizes, more_steps, calls = CASES[case]
    pools = [make_pool(*x) for x in sizes]
    more = [make_step(2 + i)[0] for i in range(more_steps)]
    graph, code, statistics = compile_and_compare(
        model, backend, pools, *make_step(), *more
    )
    assert statistics.sites == calls
    assert not find_copies(graph, pools)
    targets = [str(node.target) for node in graph.nodes]
    assert targets.count("kvfuse.write.default") == calls
    for text in code:
        caches = re.findall(r"kvfuse\.write\.default\('\S+:\w+:.*?', \[(.*?)\], ", text)
        assert len(caches) == calls
        assert {x for group in caches for x in group.split(", ")} <= {
            node.name for node in graph.find_nodes(op="placeholder")
        }
        assert ".copy_(" not in text


def test_one_write_that_stays_has_all_of_its_pool_stay(backend, caplog):
    """A write that adds is none that is fused. The others of its pool are what eager
    makes them, and each has its reason in the log."""

    def model(pool, slots, rows):
        write(pool[:, 0], slots, rows)
        mixed = rows + pool.float().amax((0, 1, 2))
        index = (slots // PAGE, slots % PAGE)
        pool[:, 1].index_put_(index, mixed.to(pool.dtype), accumulate=True)
        return attend(pool[:, 1], mixed)

    with caplog.at_level(logging.INFO, logger="kvfuse"):
        _, _, statistics = compile_and_compare(
            model, backend, [make_pool(PAGES, 2)], *make_step()
        )
    assert statistics.sites == 0
    messages = [x.getMessage() for x in caplog.records if x.name == "kvfuse"]
    assert any("accumulate" in x for x in messages)
    assert any("changed by others as well" in x for x in messages)


def test_a_copy_of_a_part_leaves_the_pool_alone(backend):
    """A functional write to a part of what a call made is one to a copy of it."""

    def model(pool, slots, rows):
        write(pool[:, 0], slots, rows)
        index = (slots // PAGE, slots % PAGE)
        copies = [
            part.index_put(index, (rows * 2).to(pool.dtype)).float().sum()
            for part in (pool[:, 0], pool[:, 1], pool[1:, 0])
        ]
        return torch.stack(copies) + pool.float().sum()

    _, _, statistics = compile_and_compare(
        model, backend, [make_pool(PAGES, 2)], *make_step()
    )
    assert statistics.sites == 1


def test_values_of_old_contents_are_not_computed_late(backend):
    """A value that Inductor leaves to its user, who comes after the write, is of the
    contents before it."""

    def model(pool, slots, rows):
        old = pool[:, 0].float() * 2
        write(pool[:, 0], slots, rows)
        return (old * pool.float().amax((0, 1, 2))).sum(0)

    with config.patch(reorder_for_locality=False):
        _, _, statistics = compile_and_compare(
            model, backend, [make_pool(PAGES, 2)], *make_step()
        )
    assert statistics.sites == 1
