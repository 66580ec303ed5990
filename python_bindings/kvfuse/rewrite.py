# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts calls of compiled functions in the place of a graph's writes.

What is a write, and which ones belong together, is the compiler's answer: the
`calls` of its report. Here they are carried out on the FX graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence

import torch
from torch.fx import Graph, Node

from .rewrite_order import find_copies_back
from .rewrite_plan import Plan
from .rewrite_sites import Finder, Found, Site, SiteError, SizeOf, UnknownNode
from .rewrite_versions import Contents, View, with_values

#: What a call's operands are in the graph: nodes, and integers.
Operands = Sequence[Node | int]

#: Makes a call at the graph's insertion point: from the site and its operands, to
#: the node of each written operand's new contents.
Emit = Callable[[Graph, Site, Operands], Sequence[Node]]


@dataclasses.dataclass(frozen=True)
class Rewriting:
    """What became of the calls."""

    replaced: list[Site]
    refused: list[tuple[str, str]]
    """Location and reason of those that could not be carried out."""


def _make_plan(
    graph: Graph,
    sites: list[Site],
    mutated: Mapping[Node, Node],
    is_functional: bool,
    repeated: Collection[Node],
) -> tuple[Plan, list[tuple[str, str]]]:
    """A plan of as many of `sites` as can be, and why others cannot."""
    refused = []
    while True:
        try:
            return Plan(graph, sites, mutated, is_functional, repeated), refused
        except SiteError as error:
            refused.append((error.site.location, str(error)))
            sites = [site for site in sites if site is not error.site]


class _Writer:
    """Carries `plan` out on its graph."""

    def __init__(self, plan: Plan, emit: Emit) -> None:
        self.graph, self.plan, self.emit = plan.graph, plan, emit
        self.made: dict[Contents, Node] = {}
        """The node of what each call leaves behind."""
        self.views: dict[Node, View] = {
            node: view
            for node, view in plan.versions.views.items()
            if node in plan.live
        }
        """What the nodes that stay see of the buffers."""

    def write(self) -> None:
        """Brings the nodes in order, makes the calls, removes what is dead."""
        originals = list(self.graph.nodes)
        place = originals[0].prev
        for item in self.plan.order:
            if isinstance(item, Node):
                place.append(item)
                place = item
            else:
                following = place.next
                with self.graph.inserting_before(following):
                    self._call(item)
                place = following.prev
        for copy in self.plan.dropped:
            copy.replace_all_uses_with(copy.args[0])
        for node in reversed(originals):
            if node not in self.plan.live:
                self.graph.erase_node(node)

    def share_memory(self) -> None:
        """Gives views values that share the memory of what they show now, which other
        nodes of the functional graph had in memory of their own."""
        for node in self.graph.nodes:
            if node in self.views and node.op == "call_function":
                with self.views[node].contents.base.meta["val"].fake_mode:
                    node.meta["val"] = node.target(
                        *with_values(node.args), **with_values(node.kwargs)
                    )

    def _call(self, site: Site) -> None:
        """Makes the call of `site`, and has its results used."""
        operands = [self._operand(x) for x in site.operands]
        results = self.emit(self.graph, site, operands)
        views = self.plan.versions.views
        for cache, result in zip(site.caches(), results, strict=True):
            self.made[self.plan.after[views[cache].contents]] = result
        for node, path in self.plan.replaced[site].items():
            result = self.made[views[node].contents]
            for view in path:
                copy = self.graph.node_copy(view)
                copy.update_arg(0, result)
                self.views[copy] = views[view]
                result = copy
            node.replace_all_uses_with(result)

    def _operand(self, operand: Node | int | SizeOf) -> Node | int:
        """The node of `operand`, which another call may have changed."""
        if isinstance(operand, int):
            return operand
        if isinstance(operand, SizeOf):
            tensor = self.plan.whole_of(operand.tensor)
            size = self.graph.call_function(
                torch.ops.aten.sym_size.int, (tensor, operand.dim)
            )
            size.meta["val"] = operand.tensor.meta["val"].shape[operand.dim]
            return size
        view = self.plan.versions.views.get(operand)
        if view is None or not view.is_whole():
            return operand
        return self.made.get(view.contents, view.contents.base)


def rewrite(
    graph: Graph,
    found: Found,
    arguments: Sequence[str],
    emit: Emit,
    mutated: Mapping[Node, Node] | None = None,
    is_functional: bool = False,
) -> Rewriting:
    """Makes the calls that were `found` in `graph`, in the place of what they stand
    for.

    `arguments` are the names of the nodes that are the program's arguments, in
    order. `mutated` has the node of the last contents of each input that the graph
    changes; left out, the graph copies them into its inputs at its end. These copies
    go, unless the calls are made in a form that `is_functional`.
    """
    if mutated is None:
        copies = find_copies_back(graph)
        mutated = {base: copy.args[1] for base, copy in copies.items()}
    finder = Finder(graph, found, arguments, mutated)
    sites, unknown = [], []
    for call in found.calls:
        try:
            sites.append(finder.find_site(call))
        except UnknownNode as error:
            unknown.append((call["location"], str(error)))
    plan, refused = _make_plan(graph, sites, mutated, is_functional, finder.repeated)
    if plan.sites:
        writer = _Writer(plan, emit)
        writer.write()
        writer.share_memory()
        graph.lint()
    return Rewriting(list(plan.sites), unknown + refused)
