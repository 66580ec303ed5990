# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`Compiled.explain` and `Compiled.counters`."""

import re
import threading

import pytest
import torch

import kvfuse
from kvfuse_testing.package import (
    BLOCKS,
    DIM,
    FP8,
    HEADS,
    PAGE,
    make_inputs,
    write_layer,
    write_rows,
)

SLOTS = torch.tensor([3, 0, 9, 5, 12])


def test_explain_says_what_fused_at_which_line_and_what_is_tested():
    text = kvfuse.compile(write_layer, make_inputs().arguments).explain()
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "main, for cpu: 14 launches before, 1 after"
    assert re.fullmatch(
        r"fused at .*package\.py:\d+:0: 3 caches in one kernel", lines[1]
    )
    assert lines[2].startswith("| write_rows(")
    assert "16 bytes: strides and addresses" in lines
    assert "SX3: index arithmetic in 64 bits does not overflow" in lines


def test_explain_says_what_was_refused_why_and_what_to_change():
    def write(cache, other, slots, rows):
        write_rows(cache, slots, rows)
        page = torch.div(slots, PAGE, rounding_mode="trunc")
        other[page, :, torch.fmod(slots, PAGE)] = rows

    caches = [torch.zeros(BLOCKS, HEADS, PAGE, DIM) for _ in range(2)]
    rows = torch.ones(5, HEADS, DIM)
    compiled = kvfuse.compile(write, (*caches, torch.arange(5), rows))
    text = compiled.explain()
    assert "1 cache in one kernel" in text
    refused = text[text.index("not fused at") :]
    assert "mixed-division" in refused.splitlines()[0]
    assert "| other[page, :, torch.fmod(slots, PAGE)] = rows" in refused
    assert re.search(r"why: \S", refused) and re.search(r"change: \S", refused)
    assert "docs/refusals.md#mixed-division" in refused

    expected = [cache.clone() for cache in caches]
    write(*expected, torch.arange(5), rows)
    compiled(*caches, torch.arange(5), rows)
    assert all(map(torch.equal, caches, expected))


@pytest.mark.filterwarnings("ignore:.*LeafSpec.*:FutureWarning")
def test_explain_names_a_dynamic_page_size():
    """Pages and offsets are computed before the kernel then."""

    class Write(torch.nn.Module):
        def forward(self, cache, slots, rows):
            page = cache.shape[1]
            cache[slots // page, slots % page] = rows

    def arguments(page):
        return torch.zeros(BLOCKS, page, HEADS, DIM), SLOTS, torch.ones(5, HEADS, DIM)

    sizes = ({1: torch.export.Dim("page", min=2)}, None, None)
    program = torch.export.export(Write(), arguments(PAGE), dynamic_shapes=sizes)
    compiled = kvfuse.compile(program)
    assert [site["reason"] for site in compiled.report["functions"][0]["refused"]] == [
        "dynamic-page"
    ]
    text = compiled.explain()
    assert "change: export with a static page size" in text
    assert "1 cache in one kernel" in text
    for page in (PAGE, PAGE + 3):
        given, expected = arguments(page), arguments(page)
        compiled(*given)
        Write()(*expected)
        assert torch.equal(given[0], expected[0])


def test_counters_tell_versions_apart():
    compiled = kvfuse.compile(write_layer, make_inputs().arguments)
    assert compiled.counters()["calls"] == 0
    compiled(*make_inputs().arguments)
    compiled(*make_inputs().arguments)
    *caches_and_k, v, index_k, slots = make_inputs().arguments
    packed = torch.zeros(*v.shape, 2, dtype=v.dtype)
    compiled(*caches_and_k, packed[..., 0], index_k, slots)

    counters = compiled.counters()
    (site,) = counters["sites"]
    assert {n: site["fused"][n] for n in ("16 bytes", "by element")} == {
        "16 bytes": 2,
        "by element": 1,
    }
    assert (counters["calls"], counters["fused"], counters["fallback"]) == (3, 3, 0)
    assert site["location"] == compiled.report["functions"][0]["fused"][0]["location"]


def test_counters_tell_why_one_kernel_was_not_enough():
    """Caches without a unit stride stay apart if that is wanted."""
    inputs = make_inputs()
    compiled = kvfuse.compile(write_layer, inputs.arguments, unit_stride_only=True)
    compiled(*inputs.arguments)
    _, *others = inputs.arguments
    wide = torch.zeros(BLOCKS, HEADS, PAGE, DIM, 2, dtype=FP8)
    compiled(wide[..., 0], *others)

    (site,) = compiled.counters()["sites"]
    assert (site["calls"], site["fallback"]) == (2, 1)
    assert site["why"] == ["last strides of caches are 1"]
    expected = torch.zeros(BLOCKS, HEADS, PAGE, DIM, dtype=FP8)
    write_rows(expected, inputs.slots, inputs.rows[0])
    assert torch.equal(wide[..., 0].float(), expected.float())


def test_counts_of_many_threads_add_up():
    compiled = kvfuse.compile(write_layer, make_inputs().arguments)

    def run():
        inputs = make_inputs()
        for _ in range(200):
            compiled(*inputs.arguments)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled.counters()["calls"] == 800


def test_without_counting_there_are_no_counters():
    arguments = make_inputs().arguments
    compiled = kvfuse.compile(write_layer, arguments, count_branches=False)
    compiled(*arguments)
    with pytest.raises(ValueError, match="count_branches=True"):
        compiled.counters()
