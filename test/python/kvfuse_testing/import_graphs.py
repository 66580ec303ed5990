# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs for tests of the importer, with operations that kvfuse does not know."""

import re
from collections.abc import Callable, Sequence

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from kvfuse import importer

from . import imports
from .cases_torch import rows, zeros
from .compile import Compiler

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


def check(
    compiler: Compiler,
    imported: importer.Imported,
    fused: list[int],
    refused: Sequence[str] = (),
) -> None:
    """Is so much fused, and refused?"""
    outcome = imports.compile_kv(compiler, imported.text, imported.mutates)
    assert not outcome.error
    counts = imports.counts(outcome)
    assert [entry[1:3] for entry in counts] == [(fused, sorted(refused))]
