# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that return a list of views of one tensor, as one view for each.

`k, v = pool.unbind(1)` is how engines take keys and values out of a pool.
"""

import itertools
from typing import Any

import torch

from . import importer_schema as schema
from . import importer_types as types

_SPLITS = (
    torch.ops.aten.chunk.default,
    torch.ops.aten.split.Tensor,
    torch.ops.aten.split.sizes,
    torch.ops.aten.split_with_sizes.default,
)


def used_parts(node: torch.fx.Node) -> set[int]:
    """Which elements of the list that `node` returns are used."""
    picks = [user for user in node.users if schema.is_getitem(user)]
    numbers = range(len(node.meta["val"]))
    if len(picks) < len(node.users) or any(
        isinstance(pick.args[1], slice) for pick in picks
    ):
        return set(numbers)
    return {numbers[pick.args[1]] for pick in picks if pick.users}


def list_parts(node: torch.fx.Node) -> list[tuple[str, list[Any]]] | None:
    """The operator, and what it takes, that gives each element of the list that
    `node` returns; None for anything else, and where sizes are not known."""
    if node.target not in (*_SPLITS, torch.ops.aten.unbind.int):
        return None
    actuals = {f.name: actual for f, actual in schema.bind(node, node.target._schema)}
    tensor, dim, parts = actuals["self"], actuals["dim"], node.meta["val"]
    if node.target not in _SPLITS:
        return [("torch.aten.select.int", [tensor, dim, i]) for i in range(len(parts))]
    sizes = [types.static_size(part.shape[dim]) for part in parts]
    if None in sizes:
        return None
    bounds = itertools.pairwise(itertools.accumulate(sizes, initial=0))
    name = "torch.aten.slice.Tensor"
    return [(name, [tensor, dim, start, end, 1]) for start, end in bounds]
