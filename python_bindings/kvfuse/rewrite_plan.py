# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in a graph the calls stand that take the place of its writes.

A call changes its caches in memory. So it comes after all that reads the old
contents and before all that reads the new ones, and after what computes its
operands. Where no order of the nodes gives that, the call is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import torch
from torch.fx import Graph, Node

from .rewrite_order import CycleError, chain_impure, find_copies_back, sort
from .rewrite_sites import Site, SiteError
from .rewrite_versions import Contents, Versions

aten = torch.ops.aten


#: What a plan orders.
Item = Node | Site


def _first(node: Node) -> object:
    """The first argument of `node`."""
    return node.args[0] if node.args else None


class Plan:
    """An order of the nodes of `graph`, with `sites` in the place of their writes.

    `mutated` has the node that computes the last contents of each input which the
    graph changes. What copies these into the inputs goes with the writes, unless
    `keep_copies`. Writes that are `repeated` go, too, where they are of contents that
    the sites make.
    """

    def __init__(
        self,
        graph: Graph,
        sites: Sequence[Site],
        mutated: Mapping[Node, Node],
        keep_copies: bool,
        repeated: Collection[Node],
    ) -> None:
        self.graph = graph
        self.mutated = mutated
        self.sites = sites
        writes = {write for site in sites for write in site.writes}
        self.versions = Versions(graph, mutated, writes, repeated)
        self.makers: dict[Contents, Site] = {}
        self.last: set[Contents] = set()
        self.overwriters: dict[Contents, Site] = {}
        self.after: dict[Contents, Contents] = {}
        """What the calls leave behind, by what they found."""
        for site in sites:
            self._add(site)
        for contents, site in self.makers.items():
            if not self._is_final(mutated[contents.base], contents.base):
                raise SiteError(site, f"{contents.base} is changed by others as well")
        self.copies = find_copies_back(graph)
        self.dropped: set[Node] = set()
        """Copies into an input of what it will hold anyway."""
        if not keep_copies:
            self.dropped = {
                copy
                for base, copy in self.copies.items()
                if self._is_final(copy.args[1], base)
            }
        self.readers: dict[Contents, list[Item]] = {}
        self.live = self._find_live()
        self.order = self._sort()
        self.replaced = self._find_replaced()

    def _is_final(self, node: Node, base: Node) -> bool:
        """Is `node` the whole of `base` after the last call that changes it?"""
        view = self.versions.views.get(node)
        return (
            view is not None
            and view.contents.base is base
            and view.contents in self.last
            and view.contents not in self.overwriters
            and view.is_whole()
        )

    def is_replaced(self, node: Node) -> bool:
        """Is `node` what a call makes, or the whole of it?"""
        view = self.versions.views.get(node)
        return (
            view is not None
            and view.contents in self.makers
            and (self.versions.is_version(node) or view.is_whole())
        )

    def _add(self, site: Site) -> None:
        """Enters the contents that `site` makes."""
        views = self.versions.views
        now: dict[Node, Contents] = {}
        for cache in site.caches():
            view = views.get(cache)
            if view is None or not view.is_whole():
                raise SiteError(site, f"{cache} is not a whole input of the graph")
            if view.contents.base in now:
                raise SiteError(site, f"{cache} is written under two names")
            if view.contents in self.overwriters:
                raise SiteError(site, f"another call changes {cache} as well")
            now[view.contents.base] = view.contents
            self.overwriters[view.contents] = site
        for write in site.writes:
            before = self.versions.before.get(write)
            if before is None or now.get(before.base) != before:
                raise SiteError(site, f"{write} does not write what the call writes")
            now[before.base] = views[write].contents
            self.makers[now[before.base]] = site
        for cache in site.caches():
            self.after[views[cache].contents] = now[views[cache].contents.base]
        self.last.update(now.values())
        device = site.caches()[0].meta["val"].device
        for node in site.reads():
            value = node.meta["val"]
            if not isinstance(value, (torch.Tensor, torch.SymInt, int)):
                raise SiteError(site, f"{node} is neither a tensor nor an integer")
            if isinstance(value, torch.Tensor) and value.device != device:
                raise SiteError(site, f"{node} is on {value.device}, not on {device}")
            view = views.get(node)
            if view is not None and view.contents.base in now:
                raise SiteError(site, f"{node} may be part of what the call writes")

    def _inputs(self, item: Item) -> Iterator[Item]:
        """What computes the operands of `item`; a call, where a write did."""
        if isinstance(item, Site):
            yield from (self.whole_of(node) for node in item.sized())
            nodes = [*item.caches(), *item.reads()]
        else:
            nodes = item.all_input_nodes
        for node in nodes:
            if node in self.dropped:
                node = node.args[1]
            if self.is_replaced(node):
                yield self.makers[self.versions.views[node].contents]
            else:
                yield node

    def _path(self, node: Node) -> list[Node]:
        """The views that lead from a whole to what `node` sees of it."""
        path: list[Node] = []
        views = self.versions.views
        while not views[node].is_whole():
            # What changes contents sees what its operand sees.
            node = node.args[0]  # type: ignore[assignment]
            if not self.versions.is_version(node) and not views[node].is_whole():
                path.insert(0, node)
        return path

    def _find_replaced(self) -> dict[Site, dict[Node, list[Node]]]:
        """The nodes that each call takes the place of, where they are needed, and
        the views that lead from what the call changes to what they see."""
        replaced: dict[Site, dict[Node, list[Node]]] = {x: {} for x in self.sites}
        for node, view in self.versions.views.items():
            if not self.is_replaced(node) or view.contents not in self.last:
                continue
            if all(user not in self.live for user in node.users):
                continue
            site = self.makers[view.contents]
            path = replaced[site][node] = self._path(node)
            parameters = [x for y in path for x in y.all_input_nodes[1:]]
            if any(x.op != "placeholder" for x in parameters):
                raise SiteError(site, f"{node} is a view that nodes describe")
        return replaced

    def whole_of(self, node: Node) -> Node:
        """The input that `node` has the sizes of, if there is one."""
        view = self.versions.views.get(node)
        return view.contents.base if view is not None and view.is_whole() else node

    def _find_live(self) -> set[Item]:
        """What is needed, the calls included; enters what reads contents."""
        live: set[Item] = set()
        stack: list[Item] = [*self.sites]
        stack += [node for node in self.graph.nodes if node.is_impure()]
        while stack:
            item = stack.pop()
            if item in live or item in self.dropped:
                continue
            live.add(item)
            self._enter_reader(item)
            stack.extend(self._inputs(item))
        return live

    def _read_by(self, item: Item) -> list[Node]:
        """The nodes whose contents `item` reads."""
        if isinstance(item, Site):
            return item.reads()
        if self.copies.get(_first(item)) is item:
            return [item.args[1]]
        return item.all_input_nodes

    def _enter_reader(self, item: Item) -> None:
        """Enters `item` as a reader of the contents that it looks at."""
        views = self.versions.views
        if item in views:
            return
        for node in self._read_by(item):
            if node not in views:
                continue
            contents = views[node].contents
            if contents in self.makers and contents not in self.last:
                raise SiteError(
                    self.makers[contents], f"order: {item} reads between the writes"
                )
            following = self.overwriters.get(contents)
            if following and isinstance(item, Node) and item.op == "output":
                raise SiteError(following, "order: the old contents are returned")
            self.readers.setdefault(contents, []).append(item)

    def _dependencies(self, item: Item, impure: Mapping[Node, Node]) -> Iterator[Item]:
        """What has to come before `item`; `impure` has what did for some nodes."""
        yield from self._inputs(item)
        if isinstance(item, Node):
            if item in impure:
                yield impure[item]
            return
        for cache in item.caches():
            yield from self.readers.get(self.versions.views[cache].contents, ())

    def _sort(self) -> list[Item]:
        """All that is live, each after what it depends on, otherwise as before."""
        last_writes = {site.writes[-1]: site for site in self.sites}
        impure = chain_impure(node for node in self.graph.nodes if node in self.live)
        items = (last_writes.get(node, node) for node in self.graph.nodes)
        try:
            return sort(
                (item for item in items if item in self.live),
                lambda item: self._dependencies(item, impure),
            )
        except CycleError as error:
            raise SiteError(
                _last_site(error.items),
                "order: the old contents are read after the new ones",
            ) from None


def _last_site(cycle: Sequence[Item]) -> Site:
    """The call nearest to the end of what depends on itself."""
    return next(item for item in reversed(cycle) if isinstance(item, Site))
