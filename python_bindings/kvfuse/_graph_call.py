# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call does where a program's graph stays, with its writes compiled."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch.utils import _pytree as pytree

from . import _arrays, rewrite
from ._calls import Functions, check_tensors
from ._frontend import Program
from .rewrite_sites import Found


class _Emitter:
    """Puts calls of compiled functions, which write in place, into a graph."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    def __call__(
        self, graph: torch.fx.Graph, site: rewrite.Site, operands: rewrite.Operands
    ) -> list[torch.fx.Node]:
        function = self.functions[site.callee]
        names = [f"{operand} of the write at {site.location}" for operand in operands]

        written = [number in site.written for number in range(len(operands))]

        def write(*operands: Any) -> None:
            check_tensors(names, operands)
            function(*map(_arrays.passable, operands, names, written))

        write.__name__ = write.__qualname__ = site.callee
        graph.call_function(write, tuple(operands)).meta["val"] = None
        return [operands[number] for number in site.written]


class GraphCall:
    """The program's graph, with calls of compiled functions where it wrote.

    Where nothing was compiled the program itself runs.
    """

    direct = None
    parameters: tuple[str, ...] = ()

    def __init__(self, program: Program, found: Found, functions: Functions) -> None:
        self.program = program
        self.unfused: Sequence[tuple[str, str]] = ()
        self.module: torch.fx.GraphModule | None = None
        self.updated = tuple(program.arguments[number] for number in program.updated)
        if not found.calls:
            return
        root = program.imported.program
        module = torch.fx.GraphModule(root, copy.deepcopy(root.graph))
        nodes = {node.name: node for node in module.graph.nodes}
        contents = pytree.tree_leaves(module.graph.output_node().args)
        mutated = {
            nodes[program.argument_nodes[number]]: node
            for number, node in zip(program.updated, contents, strict=False)
        }
        rewriting = rewrite.rewrite(
            module.graph,
            found,
            program.argument_nodes,
            _Emitter(functions),
            mutated or None,
        )
        self.unfused = rewriting.refused
        if rewriting.replaced:
            module.recompile()
            self.module = module

    @property
    def function(self) -> NoReturn:
        raise ValueError(
            "the program was not compiled whole: call it, or one of `functions`"
        )

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        program = self.program
        if self.module is None:
            return program.original(*args, **kwargs)
        given = program.leaves(args, kwargs)
        leaves = [
            _as_torch(leaf, name, number in program.mutated)
            for number, (leaf, name) in enumerate(
                zip(given, program.names, strict=True)
            )
        ]
        program.guards.check_tensors(leaves)
        if program.guards.test is not None:
            program.guards.test(leaves)
        results = pytree.tree_leaves(
            self.module(*program.select(leaves, program.placeholders))
        )
        updates, results = results[: len(self.updated)], results[len(self.updated) :]
        for old, new in zip(program.select(leaves, self.updated), updates, strict=True):
            if new is not old:
                old.copy_(new)
        outputs = tuple(
            result if isinstance(output, torch.fx.Node) else output
            for result, output in zip(results, program.outputs, strict=True)
        )
        return program.returned(program.select(given, outputs))


def _as_torch(leaf: Any, name: str, written: bool) -> Any:
    """NumPy arrays as tensors over the same memory."""
    passed = _arrays.passable(leaf, name, written)
    if passed is leaf or isinstance(passed, torch.Tensor):
        return passed
    return torch.from_dlpack(passed)
