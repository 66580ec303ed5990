# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operation `kvfuse::write`: a compiled function in a torch graph.

    kvfuse::write(str function, Tensor(a!)[] caches, Tensor[] operands,
                  SymInt[] integers) -> ()

`function` holds all that is needed to compile it again, so that a graph which torch
took from its cache, in another process, finds it. The compiler has a cache of its own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch._higher_order_ops.auto_functionalize import auto_functionalized_v2
from torch.fx import Graph, Node

from .rewrite import Emit, Operands, Site
from .torch_program import Program, load


def key(callee: str, order: str, program: Program) -> str:
    """What the operation calls function `callee` of `program` by.

    `order` says where each argument comes from: "c" is the next cache, "t" the next
    tensor, "i" the next integer.
    """
    return f"{callee}:{order}:{program.word}"


@functools.cache
def _find(function: str) -> tuple[Callable[..., None], str]:
    """The function that `key` made the word `function` of, and its order."""
    callee, order, program = function.split(":", 2)
    return load(Program.from_word(program))[callee], order


def _arguments(
    order: str,
    caches: Sequence[torch.Tensor],
    operands: Sequence[torch.Tensor],
    integers: Sequence[int],
) -> Iterator[torch.Tensor | int]:
    """The arguments in the order of the function's."""
    sources: dict[str, Iterator[Any]] = {
        "c": iter(caches),
        "t": iter(operands),
        "i": iter(integers),
    }
    return (next(sources[kind]) for kind in order)


def _write(
    function: str,
    caches: Sequence[torch.Tensor],
    operands: Sequence[torch.Tensor],
    integers: Sequence[int],
) -> None:
    """Calls the function on tensors."""
    call, order = _find(function)
    call(*_arguments(order, caches, operands, integers))


def _write_fake(
    function: str,
    caches: Sequence[torch.Tensor],
    operands: Sequence[torch.Tensor],
    integers: Sequence[int],
) -> None:
    """Nothing: the operation returns nothing."""


_LIBRARY = torch.library.Library("kvfuse", "DEF")
_LIBRARY.define(
    "write(str function, Tensor(a!)[] caches, Tensor[] operands, SymInt[] integers)"
    " -> ()",
    # Functions take any strides.
    tags=(torch.Tag.flexible_layout,),
)
_LIBRARY.impl("write", _write, "CPU")
_LIBRARY.impl("write", _write, "CUDA")
torch.library.register_fake("kvfuse::write", _write_fake, lib=_LIBRARY)

write = torch.ops.kvfuse.write.default


def _sort_operands(site: Site, operands: Operands) -> tuple[str, list, list, list]:
    """The order of `operands`, and the caches, tensors and integers among them."""
    order = ""
    kinds: dict[str, list[Node | int]] = {"c": [], "t": [], "i": []}
    for number, operand in enumerate(operands):
        is_tensor = isinstance(operand, Node) and isinstance(
            operand.meta["val"], torch.Tensor
        )
        kind = "c" if number in site.written else "t" if is_tensor else "i"
        kinds[kind].append(operand)
        order += kind
    return order, kinds["c"], kinds["t"], kinds["i"]


def _copy_trace(site: Site, call: Node) -> None:
    """Has `call` come from where the last write of `site` came from."""
    trace = site.writes[-1].meta.get("stack_trace")
    if trace is not None:
        call.meta["stack_trace"] = trace


def emit_in_place(program: Program) -> Emit:
    """Makes calls that change their operands, for graphs that run as they are."""

    def emit(graph: Graph, site: Site, operands: Operands) -> list[Node]:
        order, caches, tensors, integers = _sort_operands(site, operands)
        function = key(site.callee, order, program)
        call = graph.call_function(write, (function, caches, tensors, integers))
        call.meta["val"] = None
        _copy_trace(site, call)
        return caches

    return emit


def emit_functional(program: Program) -> Emit:
    """Makes calls that return what becomes of their operands, for Inductor, which
    makes them change their operands where nobody needs the old contents."""

    def emit(graph: Graph, site: Site, operands: Operands) -> list[Node]:
        order, caches, tensors, integers = _sort_operands(site, operands)
        views = {f"_caches_{i}_base_index": i for i in range(len(caches))}
        call = graph.call_function(
            auto_functionalized_v2,
            (write,),
            {
                "function": key(site.callee, order, program),
                "operands": tensors,
                "integers": integers,
                "_caches_length": len(caches),
                **views,
                "_all_bases": caches,
            },
        )
        results = _fake_results(caches)
        call.meta["val"] = (None, *results)
        _copy_trace(site, call)
        nodes = []
        for i, result in enumerate(results):
            node = graph.call_function(operator.getitem, (call, i + 1))
            node.meta["val"] = result
            nodes.append(node)
        return nodes

    return emit


def _fake_results(caches: Iterable[Node]) -> list[torch.Tensor]:
    """New contents as torch's compiler sees them: like `caches`, in other memory."""
    results = []
    for cache in caches:
        value = cache.meta["val"]
        with value.fake_mode:
            results.append(
                torch.empty_strided(
                    value.shape, value.stride(), dtype=value.dtype, device=value.device
                )
            )
    return results
