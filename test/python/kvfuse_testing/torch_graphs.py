# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that torch.compile makes, before and after their writes are replaced."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import torch

import kvfuse.torch

WRITE = torch.ops.kvfuse.write.default

#: What a write is made of, by the decoder's line that it comes from. What goes
#: in and out of the graph comes from no line.
CHAIN = (
    "slots = slots.to(torch.int64)",
    "page, offset = slots // page_size, slots % page_size",
    "cache[page, :, offset, :] = rows.to(cache.dtype)",
    "cache[page, offset] = rows.to(cache.dtype)",
)


@dataclasses.dataclass(frozen=True)
class Step:
    """A node, without its name."""

    target: str
    code: str
    """The line of the model's code."""


def _code(node: torch.fx.Node) -> str:
    """The line that `node` comes from; Python marks places in it by a line below."""
    lines = [line.strip() for line in (node.stack_trace or "").split("\n")]
    return next((line for line in reversed(lines) if line.strip("^~")), "")


def steps(graph: torch.fx.Graph) -> list[Step]:
    """The operations of `graph`, in order."""
    return [
        Step(str(node.target), _code(node))
        for node in graph.nodes
        if node.op == "call_function"
    ]


@dataclasses.dataclass
class Rewritten:
    """A graph before and after."""

    before: list[Step]
    after: list[Step]
    graph: torch.fx.Graph


@contextlib.contextmanager
def recorded() -> Iterator[list[Rewritten]]:
    """The graphs that kvfuse rewrites meanwhile."""
    graphs: list[Rewritten] = []
    original = kvfuse.torch.fuse

    def fuse(module, *arguments):
        before = steps(module.graph)
        result = original(module, *arguments)
        graphs.append(Rewritten(before, steps(module.graph), module.graph))
        return result

    kvfuse.torch.fuse = fuse
    try:
        yield graphs
    finally:
        kvfuse.torch.fuse = original


def without(taken: list[Step], others: list[Step]) -> list[Step]:
    """`taken` without one of each of `others`, in order."""
    left = list(others)
    return [x for x in taken if x not in left or left.remove(x)]


def is_of_chain(step: Step) -> bool:
    """Does `step` belong to a write, or does it only bring values to one, as what is
    taken from a projection of Q, K and V?"""
    return step.code in (*CHAIN, "") or "getitem" in step.target
