# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of a graph's nodes.

A functional graph says nothing of when old contents of a cache are read: Inductor
moves readers to where their results are used, which may be behind the next write.
What writes in place has to come after them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

import torch
from torch.fx import Graph, Node

from .rewrite_versions import SCATTERS, is_view

aten = torch.ops.aten

T = TypeVar("T")


class CycleError(Exception):
    """Each of `items` depends on the next one, and one of them on another before."""

    def __init__(self, items: list) -> None:
        super().__init__("a cycle of dependencies")
        self.items = items


def sort(items: Iterable[T], dependencies: Callable[[T], Iterator[T]]) -> list[T]:
    """`items` and what they depend on, each after that, otherwise as they come.
    Raises CycleError."""
    done: dict[T, bool] = {}
    order: list[T] = []
    for root in items:
        if root in done:
            continue
        done[root] = False
        stack = [(root, dependencies(root))]
        while stack:
            item, left = stack[-1]
            following = next((x for x in left if not done.get(x)), None)
            if following is None:
                stack.pop()
                done[item] = True
                order.append(item)
            elif following in done:
                raise CycleError([x for x, _ in stack])
            else:
                done[following] = False
                stack.append((following, dependencies(following)))
    return order


def find_copies_back(graph: Graph) -> dict[Node, Node]:
    """The `copy_` into each input that the graph changes, by the input."""
    return {
        node.args[0]: node  # type: ignore[misc]
        for node in graph.nodes
        if node.target is aten.copy_.default
        and isinstance(node.args[0], Node)
        and node.args[0].op == "placeholder"
    }


def chain_impure(nodes: Iterable[Node]) -> dict[Node, Node]:
    """For those of `nodes` that have effects, the one before."""
    impure = [node for node in nodes if node.op != "placeholder" and node.is_impure()]
    return dict(zip(impure[1:], impure, strict=False))


def _find_line(node: object, ends: Collection[Node]) -> list[Node]:
    """From `node`, each the first argument of the one before, up to one of `ends`;
    none if they do not lead there."""
    line = []
    while node not in ends:
        if not isinstance(node, Node) or not node.args:
            return []
        line.append(node)
        node = node.args[0]
    return line


def _find_changes(copies: Mapping[Node, Node]) -> dict[Node, Node]:
    """What computes new contents of the inputs that `copies` write: by each such node
    the one whose contents it changes, which may be a view."""
    changes: dict[Node, Node] = {}
    for base, copy in copies.items():
        ends, last = {base}, [copy.args[1]]
        while last:
            line = _find_line(last.pop(), ends)
            ends.update(line)
            computed = [node for node in line if not is_view(node)]
            changes.update((node, node.args[0]) for node in computed)
            last += [node.args[1] for node in computed if node.target in SCATTERS]
    return changes


def _is_fixed(node: Node) -> bool:
    """Does `node` have its place among others, which no operand says?"""
    return node.op == "output" or node.is_impure()


def _find_readers(node: Node) -> Iterator[Node]:
    """What reads the contents that `node`, or another view of them, shows."""
    while is_view(node) and isinstance(node.args[0], Node):
        node = node.args[0]
    stack = [node]
    while stack:
        for user in stack.pop().users:
            if is_view(user):
                stack.append(user)
            elif not _is_fixed(user):
                yield user


def _find_later(node: Node, followers: Mapping[Node, list[Node]]) -> set[Node]:
    """What comes after `node`: itself, its users, and the `followers` of nodes."""
    found: set[Node] = set()
    stack = [node]
    while stack:
        item = stack.pop()
        if item not in found:
            found.add(item)
            stack += [*item.users, *followers.get(item, ())]
    return found


def _find_early(
    change: Node,
    changed: Node,
    place: Mapping[Node, int],
    followers: Mapping[Node, list[Node]],
) -> list[Node]:
    """What is to come before `change`: readers of `changed` that do not need it, and
    what is computed from those that stand behind it."""
    later = _find_later(change, followers)
    found = {reader for reader in _find_readers(changed) if reader not in later}
    stack = [reader for reader in found if place[reader] > place[change]]
    while stack:
        for user in stack.pop().users:
            if user not in found and user not in later and not _is_fixed(user):
                found.add(user)
                stack.append(user)
    return sorted(found, key=place.__getitem__)


def put_readers_first(graph: Graph) -> None:
    """Brings what reads old contents of an input ahead of what computes the new ones,
    unless it needs these itself. All other nodes stay in their order."""
    changes = _find_changes(find_copies_back(graph))
    place = {node: number for number, node in enumerate(graph.nodes)}
    if not any(
        place[reader] > place[change] and reader not in changes
        for change, changed in changes.items()
        for reader in _find_readers(changed)
    ):
        return
    before = {node: [other] for node, other in chain_impure(graph.nodes).items()}
    after = {other: [node] for node, (other,) in before.items()}
    for change in sorted(changes, key=place.__getitem__):
        for early in _find_early(change, changes[change], place, after):
            before.setdefault(change, []).append(early)
            after.setdefault(early, []).append(change)

    def dependencies(node: Node) -> Iterator[Node]:
        yield from node.all_input_nodes
        yield from before.get(node, ())

    order = sort(list(graph.nodes), dependencies)
    for node, following in itertools.pairwise(order):
        node.append(following)
