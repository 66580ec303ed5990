# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values that the nodes of a graph have, in the order of the program.

A tensor that is written in place has a new version from there on, which every later
node reads.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import importer_schema as schema
from .importer_aliases import SameTensors
from .importer_text import Value

#: Operators that return a new version of their first operand, of its type.
VERSIONS = {
    "aten::_index_put_impl",
    "aten::_unsafe_index_put",
    "aten::as_strided_scatter",
    "aten::copy",
    "aten::diagonal_scatter",
    "aten::fill",
    "aten::index_add",
    "aten::index_copy",
    "aten::index_fill",
    "aten::index_put",
    "aten::index_reduce",
    "aten::masked_fill",
    "aten::masked_scatter",
    "aten::scatter",
    "aten::scatter_add",
    "aten::scatter_reduce",
    "aten::select_scatter",
    "aten::slice_scatter",
    "aten::zero",
}


class Versions:
    """A value for each node, or a tree of values for one with several results."""

    def __init__(
        self, graph: torch.fx.Graph, arguments: Sequence[torch.fx.Node]
    ) -> None:
        self._same = SameTensors(graph)
        self._numbers = {node: number for number, node in enumerate(arguments)}
        self._values: dict[torch.fx.Node, Any] = {}
        #: Numbers of the arguments that are written.
        self.mutated: set[int] = set()

    def first(self, node: torch.fx.Node) -> torch.fx.Node:
        """The first node that is the tensor that `node` is."""
        return self._same.first(node)

    def get(self, node: torch.fx.Node) -> Any:
        """The current version, None for a node that has none."""
        return self._values.get(self.first(node))

    def define(self, node: torch.fx.Node, value: Any) -> None:
        """Gives a node its value. One that returns what it writes has got it."""
        if self.first(node) is node:
            self._values[node] = value

    def write(self, node: torch.fx.Node, value: Value) -> None:
        """`value` is the next version of a tensor."""
        self._values[self.first(node)] = value
        number = self.argument_number(node)
        if number is not None:
            self.mutated.add(number)

    def argument_number(self, node: torch.fx.Node) -> int | None:
        """The number of the argument that a node is, or None."""
        return self._numbers.get(self.first(node))

    def is_version(self, contents: Any, tensor: torch.fx.Node) -> bool:
        """Is `contents` what operators have made of `tensor` by writing to it?"""
        while isinstance(contents, torch.fx.Node):
            contents = self.first(contents)
            if contents is self.first(tensor):
                return True
            if not schema.is_operator(contents):
                contents = schema.functionalized_base(contents)
                continue
            if contents.target._schema.name not in VERSIONS:
                return False
            contents = contents.args[0]
        return False


def result_names(node: torch.fx.Node, tree: Any) -> list[str]:
    """The name of each of the results of `node`, which are shaped as `tree`: that
    of the node that picks it, or the node's own."""
    leaves, spec = pytree.tree_flatten(tree)
    names = [node.name] * len(leaves)

    def visit(user: torch.fx.Node, part: Any) -> None:
        if isinstance(part, int):
            names[part] = user.name
            return
        for picked in user.users:
            if schema.is_getitem(picked) and not isinstance(picked.args[1], slice):
                visit(picked, part[picked.args[1]])

    visit(node, pytree.tree_unflatten(range(len(leaves)), spec))
    return names
