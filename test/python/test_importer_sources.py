# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where graphs come from: modules with buffers, symbolic sizes, Inductor, calls without
schemas."""

import pytest
import torch
import torch._inductor.config as inductor_config
from torch.fx.experimental.proxy_tensor import make_fx

from kvfuse import importer
from kvfuse_testing import torch_programs
from kvfuse_testing.cases_torch import paged, rows, zeros
from kvfuse_testing.import_graphs import (
    SLOTS,
    cache_arguments,
    check,
    operations,
    trace,
)


def test_attributes_are_arguments_and_constants_are_text(compiler):
    class Writer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("cache", zeros(2, 16, 3, 8))

        def forward(self, slots, values):
            page = torch.tensor(16)
            self.cache.index_put_((slots // page, slots % page), values)

    writer = Writer()
    program = torch.export.export(writer, (SLOTS, rows(4, 3, 8)))
    imported = importer.to_mlir(program)
    assert imported.sources[0] == ("buffer", "cache")
    assert imported.arguments == ("cache", "slots", "values")
    assert imported.mutates == (0,) and imported.results == (0, None)
    assert "dense<16>" in imported.text
    check(compiler, imported, [1])

    graph = make_fx(writer)(SLOTS, rows(4, 3, 8))
    imported = importer.to_mlir(graph)
    assert imported.sources[2][0] == "attribute"
    assert getattr(graph, imported.sources[2][1]).shape == writer.cache.shape
    assert imported.mutates == (2,) and imported.results == (2, None)
    check(compiler, imported, [1])


def test_sizes_are_numbers(compiler):
    """A graph of any number of tokens: sizes are arguments, their arithmetic too."""

    def function(cache, slots, values):
        paged(cache, slots, values)
        return values.shape[0] * 2 + 1, values.shape[0] / 2

    traced = make_fx(function, tracing_mode="symbolic")(*cache_arguments())
    imported = importer.to_mlir(traced)
    names = operations(imported)
    assert {"aten.size.int", "aten.mul.int", "aten.add.int"} <= set(names)
    assert "python.truediv" in names
    assert "!torch.vtensor<[?],si64>" in imported.text
    tokens = torch.export.Dim("tokens")
    program = torch_programs.export_program(
        function, cache_arguments(), (None, {0: tokens}, {0: tokens})
    )
    check(compiler, importer.to_mlir(program), [1])


def test_inductor_graphs(compiler):
    """Post-grad graphs have decomposed arithmetic, and copies into the arguments."""
    imported = []

    def record(graph: torch.fx.Graph) -> None:
        imported.append(importer.to_mlir(graph.owning_module))
        assert imported[-1].program is graph.owning_module

    def function(pool, slots, values):
        for part in (0, 1):
            paged(pool[:, part], slots, (values * 2).to(torch.float32))
        return values.sum()

    arguments = (zeros(2, 2, 16, 3, 8), SLOTS, rows(4, 3, 8))
    for tensor in arguments[1:]:
        torch._dynamo.mark_dynamic(tensor, 0)
    options = {"post_grad_custom_pre_pass": record, "fx_graph_cache": False}
    with inductor_config.patch(options), torch.no_grad():
        torch._dynamo.reset()
        torch.compile(function, fullgraph=True)(*arguments)
    (graph,) = imported
    (pool,) = graph.mutates
    assert graph.results == (pool, None)
    assert {"aten.div.Tensor_mode", "prims.convert_element_type"} <= set(
        operations(graph)
    )
    assert "!torch.int" in graph.text
    check(compiler, graph, [2])


def test_calls_without_a_schema_are_traced_again(compiler):
    """A graph of methods and modules, with example values."""

    def function(cache, slots, values):
        cache.index_put_((slots // 16, slots % 16), values)

    graph = torch.fx.symbolic_trace(function)
    with pytest.raises(importer.GraphImportError, match="no example value"):
        importer.to_mlir(graph)
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    for node, value in zip(nodes, cache_arguments(), strict=True):
        node.meta["val"] = value
    imported = importer.to_mlir(graph)
    assert imported.arguments == ("cache", "slots", "values")
    check(compiler, imported, [1])


def test_an_error_names_the_node():
    graph = trace(lambda one: one + 1, (zeros(4, 8),))
    (node,) = (n for n in graph.graph.nodes if n.op == "call_function")
    del node.meta["val"]
    node.meta["stack_trace"] = 'File "model.py", line 3, in forward\n    one + 1'
    with pytest.raises(importer.GraphImportError, match=r"model\.py:3: node 'add'"):
        importer.to_mlir(graph)
