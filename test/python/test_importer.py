# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The importer's text means to the compiler what torch-mlir's does."""

import pathlib

import models
import pytest
import torch
from kvfuse import importer
from kvfuse_testing import imports


def export_layer(spec: models.LayerSpec) -> torch.export.ExportedProgram:
    """One layer, in the mutable form that torch.export gives."""
    return torch.export.export(models.Layer(spec), models.example_arguments(spec))


@pytest.mark.parametrize("name", models.COMMITTED)
def test_layers_compile_as_through_torch_mlir(name, compiler):
    program = export_layer(models.COMMITTED[name])
    imported = importer.to_mlir(program)
    got = imports.compile_kv(compiler, imported.text, imported.mutates)
    text = imports.torch_mlir_text(program)
    want = imports.compile_kv(compiler, text, imported.mutates)
    assert got == want
    assert got.functions and not got.error


def test_arguments_are_named_and_mutations_known():
    imported = importer.to_mlir(export_layer(models.LayerSpec()))
    assert imported.arguments == (
        *("caches_0", "caches_1", "caches_2"),
        *("rows_0", "rows_1", "rows_2"),
        "slots",
    )
    assert imported.sources == tuple(("user", name) for name in imported.arguments)
    assert imported.mutates == (0, 1, 2)
    # The layer returns None.
    assert imported.results == (0, 1, 2, None)
    assert imported.updates == 3
    assert '{kv.name = "caches_2"}' in imported.text


def test_operations_have_names_and_lines_of_the_model():
    imported = importer.to_mlir(export_layer(models.LayerSpec()))
    path = pathlib.Path(models.__file__)
    lines = path.read_text().splitlines()
    writes = [n for n in imported.program.graph.nodes if n.name.startswith("index_put")]
    assert len(writes) == 3
    for node in writes:
        (line,) = (
            text
            for text in imported.text.splitlines()
            if f'loc("{node.name}"(' in text and '"torch.aten.index_put"' in text
        )
        place = line.rpartition(f'loc("{node.name}"("{path}":')[2]
        assert "write_rows(" in lines[int(place.partition(":")[0]) - 1]
