# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field's spellings through the importer: what torch-mlir's text gives, and the
bytes of torch eager."""

import pytest
from kvfuse import importer
from kvfuse_testing import field, imports, torch_programs


@pytest.mark.parametrize("name", field.ENTRIES)
def test_same_as_through_torch_mlir(name, compiler):
    exported = field.export(name)
    imported = importer.to_mlir(field.exported_program(field.ENTRIES[name]))
    known = {number for number in exported.updates if number is not None}
    # torch-mlir does not see what operations of somebody else write.
    assert known <= set(imported.mutates)
    if field.ENTRIES[name].reason != "opaque-op":
        assert known == set(imported.mutates)
    got = imports.compile_kv(compiler, imported.text, exported.mutated)
    want = imports.compile_kv(compiler, exported.text, exported.mutated)
    assert bool(got.error) == bool(want.error)
    assert imports.counts(got) == imports.counts(want)


def runnable() -> list[str]:
    """Entries without operations of somebody else."""
    return [
        name for name, entry in field.ENTRIES.items() if entry.reason != "opaque-op"
    ]


@pytest.mark.parametrize("name", runnable())
def test_bytes_are_those_of_torch(name, compiler):
    entry = field.ENTRIES[name]
    imported = importer.to_mlir(field.exported_program(entry))
    exported = imports.as_exported(imported)
    compiled = torch_programs.compile_exported(compiler, exported)
    if compiled.error:
        assert entry.reason == "cache-copied" and "cache-copied" in compiled.error
        return
    assert compiled.launches == entry.launches
    caches = set(field.cache_numbers(entry)) & set(exported.mutated)
    for seed in range(2):
        inputs = field.inputs(entry, seed)
        assert not torch_programs.differences(
            compiled, exported, entry.function, inputs, caches
        )
