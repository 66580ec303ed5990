# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which nodes of a functional FX graph stand for which contents of a cache.

A functional graph has a value for the contents of a cache after each write, and
values for parts of them: views, and what is put back into the whole. In memory all
of them are one buffer, seen through some sizes, strides and offset.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import torch
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true, sym_eq

aten = torch.ops.aten

#: What puts a part back into the whole, by the view that takes it out.
SCATTERS = {
    aten.select_scatter.default: aten.select.int,
    aten.slice_scatter.default: aten.slice.Tensor,
    aten.as_strided_scatter.default: aten.as_strided.default,
    aten.diagonal_scatter.default: aten.diagonal.default,
}


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of the buffer `base` after the writes up to `write`."""

    base: Node
    write: Node | None = None
    """The node that changed them last; None for what the graph was given."""


@dataclasses.dataclass(frozen=True)
class View:
    """What a node sees of a buffer."""

    contents: Contents
    seen: torch.Tensor | Sequence[torch.Tensor]
    """A fake tensor over the fake storage of the base, or several: where the bytes
    lie."""

    def is_whole(self) -> bool:
        """Is this the base itself, with its sizes, strides and type?"""
        return _is_same_view(self.seen, self.contents.base.meta["val"])


def _is_same_view(a: object, b: object) -> bool:
    """Do `a` and `b`, over one storage, see the same bytes in the same way?"""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return False
    return a.dtype == b.dtype and all(
        len(x) == len(y) and statically_known_true(sym_eq(tuple(x), tuple(y)))
        for x, y in (
            (a.shape, b.shape),
            (a.stride(), b.stride()),
            ((a.storage_offset(),), (b.storage_offset(),)),
        )
    )


def is_view(node: Node) -> bool:
    """Does `node` give a view, or several, of its first operand's memory?"""
    if node.target is operator.getitem:
        return True
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    arguments = node.target._schema.arguments
    aliases = [argument.alias_info for argument in arguments]
    return (
        bool(aliases)
        and aliases[0] is not None
        and not aliases[0].is_write
        and not any(aliases[1:])
    )


def with_values(arguments: Any) -> Any:
    """`arguments` with the values of nodes in the place of the nodes."""
    return torch.fx.node.map_arg(arguments, lambda node: node.meta["val"])


def _take_view(node: Node, source: View) -> View | None:
    """What the view `node` sees of `source`; None if it makes a copy."""
    if node.target is operator.getitem:
        return View(source.contents, source.seen[node.args[1]])
    base = source.contents.base.meta["val"]
    # Its offset counts from the storage's begin, which the base may not have.
    if node.target is aten.as_strided.default and not statically_known_true(
        base.storage_offset() == 0
    ):
        return None
    with base.fake_mode:
        seen = node.target(source.seen, *with_values(node.args[1:]), **node.kwargs)
    parts = seen if isinstance(seen, (list, tuple)) else [seen]
    storage = base.untyped_storage()._cdata
    if any(part.untyped_storage()._cdata != storage for part in parts):
        return None
    return View(source.contents, seen)


def _puts_back(node: Node, source: View, part: View) -> bool:
    """Does the scatter `node` put `part` where it was taken from `source`?"""
    with source.contents.base.meta["val"].fake_mode:
        place = SCATTERS[node.target](
            source.seen, *with_values(node.args[2:]), **node.kwargs
        )
    return _is_same_view(place, part.seen)


class Versions:
    """The views of `bases` in `graph`, where `writes` change them, but for those that
    are `repeated`: these find in memory what they put there."""

    def __init__(
        self,
        graph: Graph,
        bases: Collection[Node],
        writes: Collection[Node],
        repeated: Collection[Node],
    ) -> None:
        self.repeated = repeated
        self.views: dict[Node, View] = {}
        self.before: dict[Node | None, Contents] = {}
        """The contents that each write changes."""
        self.wholes: dict[Contents, Node] = {}
        """A node that is the whole base with these contents."""
        for node in graph.nodes:
            view = self._find_view(node, bases, writes)
            if view is None:
                continue
            self.views[node] = view
            if view.is_whole():
                self.wholes.setdefault(view.contents, node)

    def follow(self, contents: Contents, writes: Iterable[Node]) -> Contents:
        """What becomes of `contents` by those of the `writes` that change them, one
        after the other."""
        for write in writes:
            if self.before.get(write) == contents:
                contents = self.views[write].contents
        return contents

    def _find_view(
        self, node: Node, bases: Collection[Node], writes: Collection[Node]
    ) -> View | None:
        if node in bases:
            return View(Contents(node), node.meta["val"])
        first = node.args[0] if node.args else None
        source = self.views.get(first) if isinstance(first, Node) else None
        if node.op != "call_function" or source is None:
            return None
        if node in self.repeated:
            return source
        if node in writes:
            self.before[node] = source.contents
            return View(Contents(source.contents.base, node), source.seen)
        if node.target in SCATTERS:
            return self._find_whole(node, source)
        return _take_view(node, source) if is_view(node) else None

    def _find_whole(self, node: Node, source: View) -> View | None:
        """The whole after the scatter `node`, if that puts a part, written or as it
        was, back into what it was taken from."""
        part = self.views.get(node.args[1])
        if part is None:
            return None
        before = self.before.get(part.contents.write)
        if source.contents not in (part.contents, before):
            return None
        if not _puts_back(node, source, part):
            return None
        return View(part.contents, source.seen)

    def is_version(self, node: Node) -> bool:
        """Does `node` compute contents, rather than look at some?"""
        return node in self.views and (
            node in self.before or node in self.repeated or node.target in SCATTERS
        )
