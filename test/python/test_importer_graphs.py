# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs as make_fx and AOTAutograd leave them: writes in place, views and copies."""

import re

import pytest
import torch

from kvfuse import importer
from kvfuse_testing import imports, torch_programs
from kvfuse_testing.cases_torch import paged, rows, zeros
from kvfuse_testing.import_graphs import (
    SLOTS,
    cache_arguments,
    check,
    operations,
    trace,
)


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
