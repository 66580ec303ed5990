# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that kvfuse does not know keep their places, effects and results."""

import re

import pytest
import torch

from kvfuse import importer
from kvfuse_testing import imports, torch_programs
from kvfuse_testing.cases_torch import paged, rows, zeros
from kvfuse_testing.import_graphs import OPS, cache_arguments, check, operations, trace


@pytest.mark.parametrize("exported", [False, True])
def test_an_unknown_write_keeps_its_place(compiler, exported):
    """What stands before an operation that writes the cache may fuse; what comes
    after it writes something that kvfuse does not know."""

    def function(cache, slots, values):
        paged(cache, slots, values)
        OPS.touch(cache, values)
        paged(cache, slots, values + 1)
        return cache * 2

    arguments = cache_arguments()
    if exported:
        imported = importer.to_mlir(torch_programs.export_program(function, arguments))
    else:
        imported = importer.to_mlir(trace(function, arguments))
    names = [
        name
        for name in operations(imported)
        if name in ("aten.index_put", "kvfuse_import.touch")
    ]
    assert names == ["aten.index_put", "kvfuse_import.touch", "aten.index_put"]
    assert imported.mutates == (0,) and imported.results == (0, None)
    check(compiler, imported, [1], ["cache-copied"])


def test_an_unknown_write_may_return_something(compiler):
    def function(cache, slots, values):
        values = OPS.exchange(cache, values)
        paged(cache, slots, values)
        return values

    for traced in (
        trace(function, cache_arguments()),
        torch_programs.export_program(function, cache_arguments()),
    ):
        imported = importer.to_mlir(traced)
        assert imported.mutates == (0,) and imported.results == (0, None)
        check(compiler, imported, [], ["cache-copied"])


def test_an_unknown_write_of_a_list_writes_each():
    def function(one, other, values):
        OPS.touch_all([one, other])
        return one + values, other + values

    arguments = (zeros(4, 8), zeros(4, 8), rows(4, 8))
    imported = importer.to_mlir(trace(function, arguments))
    assert imported.mutates == (0, 1)
    assert imported.results == (0, 1, None, None)
    sums = re.findall(r'"torch\.aten\.add\.Tensor"\((\S+),', imported.text)
    assert len(sums) == 2 and not {"%arg0", "%arg1"} & set(sums)


def test_results_of_one_operation_are_named_by_what_picks_them(compiler):
    def function(cache, slots, values):
        first, (_, last) = OPS.three(values)
        paged(cache, slots, last)
        return first

    graph = trace(function, cache_arguments())
    imported = importer.to_mlir(graph)
    names = [n.name for n in graph.graph.nodes if n.name.startswith("getitem")]
    assert names and f'"{names[-1]}"' in imported.text
    (entry,) = imports.report_calls(compiler, imported.text, imported.mutates)
    values = [each["value"] for each in entry["operands"] if "value" in each]
    (picked,) = (n for n in graph.graph.nodes if n.name == values[0])
    assert picked.args[1] == 1 and picked.args[0].args[1] == 1
    assert entry["writes"] == ["index_put_"]


def test_graphs_in_graphs_are_opaque(compiler):
    def function(cache, slots, values):
        values = torch.cond(values.sum() > 0, torch.neg, torch.abs, (values,))
        paged(cache, slots, values)

    for traced in (
        trace(function, cache_arguments()),
        torch_programs.export_program(function, cache_arguments()),
    ):
        imported = importer.to_mlir(traced)
        assert "higher_order.cond" in operations(imported)
        check(compiler, imported, [1])


def test_every_node_is_there():
    """No call is dropped, and none is moved."""

    def function(cache, slots, values):
        paged(cache, slots, torch.nn.functional.silu(values))
        OPS.touch(cache, values)
        largest, _ = values.float().topk(2)
        (product,) = torch._foreach_mul([values], 2)
        return cache.sum(), largest, product, OPS.three(values)

    graph = trace(function, cache_arguments())
    calls = [
        node.target.name().replace("::", ".").replace("index_put_", "index_put")
        for node in graph.graph.nodes
        if isinstance(node.target, torch._ops.OpOverload)
    ]
    assert len(calls) == 10
    names = operations(importer.to_mlir(graph))
    assert [name.removesuffix(".Scalar") for name in names] == [
        call.removesuffix(".Scalar") for call in calls
    ]


def test_results_that_are_new_are_said_to_be():
    """By schema, and by the storages of the traced tensors: of a reader of the cache
    that is no view, the result does not change when the cache does."""

    def function(cache, slots, values):
        seen = cache.sum(), cache.view(32, 24), cache.to(torch.bfloat16)
        paged(cache, slots, values)
        return [each * 2 for each in seen]

    marked = {
        re.search(r'"torch\.([\w.]+)"', line)[1]
        for line in importer.to_mlir(trace(function, cache_arguments())).text.split(
            "\n"
        )
        if "{kv.new_results}" in line
    }
    assert "aten.sum" in marked and "aten.mul.Scalar" in marked
    assert not {"aten.view", "aten.to.dtype"} & marked
