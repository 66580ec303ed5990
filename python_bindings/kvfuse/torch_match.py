# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces the writes of a functional FX graph by what the compiler makes of them."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import _driver
from ._compile import _target_of
from ._library import CompileError
from ._options import Options
from .importer import GraphImportError, to_mlir
from .rewrite import Emit, Rewriting, rewrite
from .rewrite_order import find_copies_back, put_readers_first
from .rewrite_sites import Found
from .torch_program import Program, load

log = logging.getLogger("kvfuse")


@dataclasses.dataclass(frozen=True)
class Match:
    """What the compiler found in a graph.

    writes, refused: those of the report. arguments: the names of the nodes that are
    the program's arguments. text: the compiled functions, kv IR.
    """

    writes: Found
    refused: Sequence[Mapping[str, Any]]
    arguments: Sequence[str]
    text: str


def _find_device(module: GraphModule) -> torch.device | None:
    """The device of the inputs that `module` changes; None if it changes none, or
    some on several devices."""
    devices = {base.meta["val"].device for base in find_copies_back(module.graph)}
    return devices.pop() if len(devices) == 1 else None


def match(module: GraphModule, options: Options, target: str) -> Match:
    """The writes of `module`, which is functional but for copies into its inputs at
    the end. Raises GraphImportError or CompileError."""
    imported = to_mlir(module)
    if imported.program is not module:
        raise CompileError("the graph writes through views")
    # A graph without any write is no error.
    fuse = "on" if options.fuse == "required" else options.fuse
    request = dataclasses.replace(
        options, fuse=fuse, mutates=imported.mutates, keep_callers=True
    )
    output = _driver.compile(
        imported.text, target=target, emit="writes", options=request
    )
    functions = output.report["functions"]
    return Match(
        Found.of(output.report),
        [entry for function in functions for entry in function["refused"]],
        imported.arguments,
        output.data.decode(),
    )


def _load(program: Program, callees: Iterable[str], device: torch.device) -> None:
    """Compiles `program`, and loads it where the graph's inputs are: in a graph that
    is captured it is too late."""
    functions = load(program)
    if device.type == "cuda":
        for callee in callees:
            functions[f"{callee}_load"](device.index or 0)


def _is_negative(node: Node) -> bool:
    """Is its value a tensor with torch's negative bit?"""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.is_neg()


def fuse(
    module: GraphModule,
    options: Options,
    make_emit: Callable[[Program], Emit],
    is_functional: bool,
) -> Rewriting:
    """Replaces the writes of `module` that can be fused by calls.

    `make_emit` makes the calls, in a form that `is_functional` or not. Raises
    CompileError if `options` require what is not possible.
    """
    nothing = Rewriting([], [])
    device = _find_device(module)
    if device is None or options.fuse == "off":
        return nothing
    put_readers_first(module.graph)
    target = "cpu" if device.type == "cpu" else _target_of(device)
    is_required = options.fuse == "required"
    try:
        if is_functional and any(map(_is_negative, module.graph.nodes)):
            raise CompileError("Inductor takes no negative bit to a call")
        found = match(module, options, target)
    except (GraphImportError, CompileError) as error:
        if is_required:
            raise
        log.warning("a graph is left as it is: %s", error)
        return nothing
    refused = [
        (entry["location"], f"{entry['reason']}: {entry['detail']}")
        for entry in found.refused
    ]
    result = nothing
    if found.writes.calls:
        program = Program(found.text, target, dataclasses.replace(options, fuse="on"))
        _load(program, {call["callee"] for call in found.writes.calls}, device)
        result = rewrite(
            module.graph,
            found.writes,
            found.arguments,
            make_emit(program),
            is_functional=is_functional,
        )
        module.recompile()
    result = Rewriting(result.replaced, [*refused, *result.refused])
    for location, reason in result.refused:
        log.info("%s: a write is left as it is: %s", location, reason)
    if is_required and result.refused:
        location, reason = result.refused[0]
        raise CompileError(f"{location}: a write is not fused: {reason}")
    return result
