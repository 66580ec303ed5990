# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that take the place of a graph's writes: what the compiler's report says of
them, as nodes of the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch.fx import Graph, Node

from .rewrite_versions import Versions


@dataclasses.dataclass(frozen=True)
class SizeOf:
    """The size of dimension `dim` of a tensor."""

    tensor: Node
    dim: int


@dataclasses.dataclass(frozen=True, eq=False)
class Site:
    """A call of a compiled function, and the nodes whose effect it has."""

    callee: str
    location: str
    writes: tuple[Node, ...]
    operands: tuple[Node | int | SizeOf, ...]
    written: tuple[int, ...]
    """Numbers of the operands that the call changes in memory."""

    def caches(self) -> list[Node]:
        """The operands that the call changes."""
        return [self.operands[number] for number in self.written]  # type: ignore[misc]

    def reads(self) -> list[Node]:
        """The nodes whose contents the call only reads."""
        return [
            operand
            for number, operand in enumerate(self.operands)
            if isinstance(operand, Node) and number not in self.written
        ]

    def sized(self) -> list[Node]:
        """The nodes of which the call takes a size."""
        return [x.tensor for x in self.operands if isinstance(x, SizeOf)]


class SiteError(Exception):
    """Why the call `site` cannot take the place of its nodes."""

    def __init__(self, site: Site, reason: str) -> None:
        super().__init__(reason)
        self.site = site


@dataclasses.dataclass(frozen=True)
class Found:
    """What the compiler's report says of a graph's writes.

    calls: those that take the place of writes. repeated: names of writes that find in
    memory what they put there.
    """

    calls: Sequence[Mapping[str, Any]]
    repeated: Sequence[str] = ()

    @staticmethod
    def of(report: Mapping[str, Any]) -> Found:
        """That of the functions that are not compiled whole."""
        functions = [x for x in report["functions"] if "calls" in x]
        return Found(
            [call for function in functions for call in function["calls"]],
            [name for function in functions for name in function["repeated"]],
        )


class UnknownNode(Exception):
    """What a call of the report stands for, or needs, is no node of the graph."""


class Finder:
    """Finds the nodes that `found` speaks of.

    `arguments` are the names of the nodes that are the program's arguments, `mutated`
    those inputs of the graph that it changes.
    """

    def __init__(
        self,
        graph: Graph,
        found: Found,
        arguments: Sequence[str],
        mutated: Mapping[Node, Node],
    ) -> None:
        self.nodes = {node.name: node for node in graph.nodes}
        self.calls = found.calls
        self.arguments = arguments
        self.repeated = self._find_known(found.repeated)
        """Writes that change nothing where those that they repeat are done."""
        writes = (name for call in found.calls for name in call["writes"])
        self.versions = Versions(
            graph, mutated, self._find_known(writes), self.repeated
        )

    def _find_known(self, names: Iterable[str]) -> set[Node]:
        """Those nodes of the `names` that the graph has."""
        return {self.nodes[name] for name in names if name in self.nodes}

    def find_site(self, call: Mapping[str, Any]) -> Site:
        """The site of `call`, one of the report's. Raises UnknownNode."""
        return Site(
            call["callee"],
            call["location"],
            self._find_writes(call),
            tuple(map(self._find_operand, call["operands"])),
            tuple(call["written"]),
        )

    def _find_node(self, name: str) -> Node:
        """The node called `name`."""
        node = self.nodes.get(name)
        if node is None:
            raise UnknownNode(f"no node of the graph is {name!r}")
        return node

    def _find_writes(self, call: Mapping[str, Any]) -> tuple[Node, ...]:
        """The nodes that `call` takes the place of, in the graph's order."""
        writes = {self._find_node(name) for name in call["writes"]}
        return tuple(node for node in self.nodes.values() if node in writes)

    def _find_operand(self, operand: Mapping[str, Any]) -> Node | int | SizeOf:
        """What the report calls `operand`."""
        if "constant" in operand:
            return operand["constant"]
        if "size_of" in operand:
            source = self._find_operand(operand["size_of"])
            if not isinstance(source, Node):
                raise UnknownNode(f"no node of the graph is {source}, which has a size")
            size = source.meta["val"].shape[operand["dim"]]
            return size if isinstance(size, int) else SizeOf(source, operand["dim"])
        if "argument" in operand:
            return self._find_node(self.arguments[operand["argument"]])
        if "call" in operand:
            return self._find_contents(self.calls[operand["call"]], operand["operand"])
        return self._find_node(operand["value"])

    def _find_contents(self, call: Mapping[str, Any], number: int) -> Node:
        """The whole of what `call` leaves in its operand `number`."""
        cache = self._find_operand(call["operands"][number])
        view = self.versions.views.get(cache)
        if view is not None:
            contents = self.versions.follow(view.contents, self._find_writes(call))
            if contents in self.versions.wholes:
                return self.versions.wholes[contents]
        raise UnknownNode(f"no node of the graph is {cache} after {call['callee']}")
