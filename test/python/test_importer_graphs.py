# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs as make_fx, AOTAutograd and Inductor leave them: writes in place, views,
operations that kvfuse does not know, and results that it does not own."""

import re
from collections.abc import Callable, Sequence

import pytest
import torch
import torch._inductor.config as inductor_config
from torch.fx.experimental.proxy_tensor import make_fx

from kvfuse import importer
from kvfuse_testing import imports, torch_programs
from kvfuse_testing.cases_torch import paged, rows, zeros

LIBRARY = torch.library.Library("kvfuse_import", "DEF")
LIBRARY.define("touch(Tensor(a!) cache, Tensor rows) -> ()")
LIBRARY.define("exchange(Tensor(a!) cache, Tensor rows) -> Tensor")
LIBRARY.define("touch_all(Tensor(a!)[] caches) -> ()")
LIBRARY.define("three(Tensor rows) -> (Tensor, Tensor[])")


@torch.library.impl(LIBRARY, "touch", "CompositeExplicitAutograd")
def touch(cache: torch.Tensor, values: torch.Tensor) -> None:
    cache[0, 0] += values[0]


@torch.library.impl(LIBRARY, "exchange", "CompositeExplicitAutograd")
def exchange(cache: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    cache[0, 0] += values[0]
    return values + 1


@torch.library.impl(LIBRARY, "touch_all", "CompositeExplicitAutograd")
def touch_all(caches: list[torch.Tensor]) -> None:
    for cache in caches:
        cache[0, 0] += 1


@torch.library.impl(LIBRARY, "three", "CompositeExplicitAutograd")
def three(values: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    return values + 1, [values + 2, values + 3]


OPS = torch.ops.kvfuse_import
SLOTS = torch.tensor([2, 9, 14, 30])


def cache_arguments() -> tuple[torch.Tensor, ...]:
    """A cache [2, 16, 3, 8], slots [4] and rows [4, 3, 8]."""
    return zeros(2, 16, 3, 8), SLOTS, rows(4, 3, 8)


def trace(function: Callable, arguments: Sequence) -> torch.fx.GraphModule:
    """A graph of what `function` calls, writes in place as they are."""
    return make_fx(function, tracing_mode="fake")(*arguments)


def operations(imported: importer.Imported) -> list[str]:
    """The names of the function's operations but for constants and lists."""
    names = []
    for line in imported.text.splitlines()[2:]:
        found = re.search(r'"torch\.([\w.]+)"\(', line)
        if found and found[1] == "operator":
            found = re.search(r'name = "torch\.([\w.]+)"', line)
        if found and not found[1].startswith(("constant.", "prim.")):
            names.append(found[1])
    return names


def check(compiler, imported, fused: list[int], refused: Sequence[str] = ()) -> None:
    """Is so much fused, and refused?"""
    outcome = imports.compile_kv(compiler, imported.text, imported.mutates)
    assert not outcome.error
    counts = imports.counts(outcome)
    assert [entry[1:3] for entry in counts] == [(fused, sorted(refused))]


def test_writes_in_place_give_versions(compiler):
    """A reader of the cache after the write reads what the write returns."""

    def function(cache, slots, values):
        before = cache.sum()
        paged(cache, slots, values)
        return before, cache.sum(), cache

    graph = trace(function, cache_arguments())
    imported = importer.to_mlir(graph)
    assert imported.program is graph
    assert imported.mutates == (0,)
    assert imported.results == (0, None, None, 0) and imported.updates == 1
    lines = imported.text.splitlines()
    before, after = (line for line in lines if '"torch.aten.sum"' in line)
    assert '"torch.aten.sum"(%arg0,' in before
    (write,) = (line for line in lines if '"torch.aten.index_put"' in line)
    version = write.split()[0]
    assert f'"torch.aten.sum"({version},' in after
    check(compiler, imported, [1])


def test_writes_through_views_are_made_functional(compiler):
    """Both halves of a pool, written through views that are read later."""

    def function(pool, slots, values):
        keys, items = pool[0], pool[1]
        paged(keys, slots, values)
        paged(items, slots, values)
        return keys + items

    arguments = (zeros(2, 2, 16, 3, 8), SLOTS, rows(4, 3, 8))
    graph = trace(function, arguments)
    imported = importer.to_mlir(graph)
    assert imported.program is not graph
    assert not re.search(r"_\b", " ".join(operations(imported)))
    assert imported.arguments == ("pool_1", "slots_1", "values_1")
    assert imported.mutates == (0,) and imported.results == (0, None)
    check(compiler, imported, [2])


def test_lines_stay_where_a_graph_is_made_functional():
    def function(pool, slots, values):
        paged(pool[0], slots, values)

    graph = trace(function, (zeros(2, 2, 16, 3, 8), SLOTS, rows(4, 3, 8)))
    for node in graph.graph.nodes:
        node.meta["stack_trace"] = 'File "model.py", line 7, in forward\n    write()'
    imported = importer.to_mlir(graph)
    assert imported.program is not graph
    assert 'loc("index_put"("model.py":7:0))' in imported.text


def test_a_change_of_shape_in_place_is_made_functional(compiler):
    """Of a tensor of the program's own: an argument cannot change its shape."""

    def function(cache, slots, values):
        values = values * 2
        values.transpose_(0, 1)
        paged(cache, slots, values)

    def outside(cache, slots, values):
        values.transpose_(0, 1)
        paged(cache, slots, values)

    arguments = (zeros(2, 16, 3, 8), SLOTS, rows(3, 4, 8))
    imported = importer.to_mlir(trace(function, arguments))
    assert "aten.transpose.int" in operations(imported)
    check(compiler, imported, [1])
    with pytest.raises(importer.GraphImportError, match="changes the shape"):
        importer.to_mlir(trace(outside, arguments))


@pytest.mark.parametrize("dim", [0, 1])
def test_parts_of_a_pool_are_views_of_it(compiler, dim):
    """`unbind`, `chunk` and `split` of a pool, where only one part is used too."""
    shape = [4, 16, 3, 8]
    shape.insert(dim, 2)

    def unbind(pool, slots, values):
        keys, items = pool.unbind(dim)
        paged(keys, slots, values)
        paged(items, slots, values)

    def chunk(pool, slots, values):
        _, items = pool.chunk(2, dim)
        paged(items.squeeze(dim), slots, values)

    def split(pool, slots, values):
        for part in pool.split([1, 1], dim):
            paged(part.squeeze(dim), slots, values)

    for function, fused in ((unbind, [2]), (chunk, [1]), (split, [2])):
        arguments = (zeros(*shape), SLOTS, rows(4, 3, 8))
        program = torch_programs.export_program(function, arguments)
        check(compiler, importer.to_mlir(program), fused)
        check(compiler, importer.to_mlir(trace(function, arguments)), fused)


def test_a_view_that_is_dead_needs_nothing(compiler):
    """As in Inductor's graphs: the pool is written once all views are read."""

    def function(pool, slots, values):
        written = torch.index_put(pool[0], (slots // 16, slots % 16), values)
        pool.copy_(torch.select_scatter(pool, written, 0, 0))

    graph = trace(function, (zeros(2, 2, 16, 3, 8), SLOTS, rows(4, 3, 8)))
    imported = importer.to_mlir(graph)
    assert imported.program is graph
    assert "aten.copy" not in operations(imported)
    assert imported.mutates == (0,) and imported.results == (0, None)
    check(compiler, imported, [1])


def test_contents_of_another_tensor_are_copied():
    """One cache must not become the other."""

    def function(cache, other):
        cache.copy_(other)

    imported = importer.to_mlir(trace(function, (zeros(4, 8), zeros(4, 8))))
    assert operations(imported) == ["aten.copy"]
    assert imported.mutates == (0,) and imported.results == (0, None)
    program = torch_programs.export_program(function, (zeros(4, 8), zeros(4, 8)))
    imported = importer.to_mlir(program)
    assert "aten.copy" in operations(imported)
    assert imported.mutates == (0,)


def test_a_copy_that_is_returned_is_a_copy():
    """The result of a functional write is not the argument it is copied into."""

    def function(cache, slots, values):
        written = torch.index_put(cache, (slots // 16, slots % 16), values)
        cache.copy_(written)
        return written

    imported = importer.to_mlir(trace(function, cache_arguments()))
    assert operations(imported)[-1] == "aten.clone"
    assert imported.results == (0, None)


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


def test_strides_of_what_is_not_contiguous_are_not_believed(compiler):
    """as_strided counts from the start of memory, which a type does not tell."""

    def function(pool, slots, values):
        cache = pool.as_strided((2, 16, 3, 8), (768, 24, 8, 1), 0)
        written = torch.index_put(cache, (slots // 16, slots % 16), values)
        pool.copy_(pool.as_strided_scatter(written, cache.shape, cache.stride(), 0))

    pool = zeros(2, 2, 16, 3, 8)
    imported = importer.to_mlir(trace(function, (pool, SLOTS, rows(4, 3, 8))))
    assert imported.text.count('"torch.aten.as_strided"(') == 1
    check(compiler, imported, [1])
    turned = zeros(2, 2, 8, 3, 16).permute(0, 1, 4, 3, 2)
    imported = importer.to_mlir(trace(function, (turned, SLOTS, rows(4, 3, 8))))
    assert '"torch.aten.as_strided"(' not in imported.text
    outcome = imports.compile_kv(compiler, imported.text, imported.mutates)
    assert not any(fused for _, fused, *_ in imports.counts(outcome))


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
