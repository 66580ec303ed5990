# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field's entries through the Torch door."""

from . import field, torch_programs
from .compile import Compiler
from .torch_programs import Compiled


def compile_entry(
    compiler: Compiler, name: str, fuse: str = "on", output_type: str = "raw"
) -> Compiled:
    """Compiles an entry, its caches declared mutated."""
    exported = field.export(name, output_type)
    return torch_programs.compile_exported(compiler, exported, fuse)


def differences(
    name: str, compiled: Compiled, seed: int, output_type: str = "raw"
) -> list[str]:
    """Compares a call with torch eager: one line for each difference."""
    entry, exported = field.ENTRIES[name], field.export(name, output_type)
    caches = set(field.cache_numbers(entry)) & set(exported.mutated)
    return torch_programs.differences(
        compiled, exported, entry.function, field.inputs(entry, seed), caches
    )
