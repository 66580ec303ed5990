# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of a graph that share memory, and graphs without writes in place."""

import itertools
import operator
from collections.abc import Sequence

import torch
from torch._guards import detect_fake_mode
from torch.fx.experimental.proxy_tensor import make_fx

from . import importer_schema as schema
from .importer_locations import GraphImportError


class SameTensors:
    """Which nodes are one tensor: `index_put_` returns what it writes, and every
    `get_attr` of a name is the same."""

    def __init__(self, graph: torch.fx.Graph) -> None:
        self._first: dict[torch.fx.Node, torch.fx.Node] = {}
        attributes: dict[str, torch.fx.Node] = {}
        for node in graph.nodes:
            if node.op == "get_attr":
                self._first[node] = attributes.setdefault(str(node.target), node)
            elif schema.is_operator(node) and len(node.target._schema.returns) == 1:
                (returned,) = node.target._schema.returns
                written = schema.returned_argument(node, returned)
                if written is not None:
                    self._first[node] = self.first(written)

    def first(self, node: torch.fx.Node) -> torch.fx.Node:
        """The first node that is the tensor that `node` is."""
        return self._first.get(node, node)


def find_shared_write(graph: torch.fx.Graph) -> torch.fx.Node | None:
    """The first node that writes a tensor of which another one is a view, if either
    is used afterwards. Nothing else needs to know of views."""
    order = {node: number for number, node in enumerate(graph.nodes)}
    same = SameTensors(graph)
    roots: dict[torch.fx.Node, set[torch.fx.Node]] = {}
    views: dict[torch.fx.Node, list[torch.fx.Node]] = {}

    def used_after(tensor: torch.fx.Node, node: torch.fx.Node) -> bool:
        return any(order[user] > order[node] for user in tensor.users)

    for node in graph.nodes:
        viewed = [same.first(n) for n in schema.viewed_nodes(node)]
        if viewed and same.first(node) is node:
            roots[node] = set(
                itertools.chain.from_iterable(roots.get(n, {n}) for n in viewed)
            )
            for root in roots[node]:
                views.setdefault(root, []).append(node)
        for written in map(same.first, schema.written_nodes(node)):
            if written in roots:
                return node
            if any(used_after(view, node) for view in views.get(written, ())):
                return node
    return None


def find_untraced(graph: torch.fx.Graph) -> torch.fx.Node | None:
    """The first call that says nothing of what it does: no operator of torch's
    library and no arithmetic on sizes; or that changes what a tensor is a view of."""
    for node in graph.nodes:
        if node.op in ("call_method", "call_module") or schema.changes_shape(node):
            return node
        if node.op != "call_function" or schema.is_operator(node):
            continue
        takes_tensor = any(map(schema.is_tensor_node, node.all_input_nodes))
        known = schema.is_higher_order(node) or schema.is_getitem(node)
        if takes_tensor and not known:
            return node
    return None


class _LiftedInterpreter(torch.fx.Interpreter):
    """Runs a graph that takes the tensors of its module as further arguments."""

    def __init__(self, module: torch.fx.GraphModule, lifted: Sequence[str]) -> None:
        super().__init__(module)
        self._names = lifted
        self._lifted: dict[str, object] = {}

    def run_lifted(self, *arguments: object) -> object:
        count = len(arguments) - len(self._names)
        self._lifted = dict(zip(self._names, arguments[count:], strict=True))
        return self.run(*arguments[:count])

    def get_attr(self, target: str, args: tuple, kwargs: dict) -> object:
        if target in self._lifted:
            return self._lifted[target]
        return super().get_attr(target, args, kwargs)


def functional_graph(
    module: torch.fx.GraphModule, lifted: Sequence[str], cause: torch.fx.Node
) -> torch.fx.GraphModule:
    """The same program without writes in place but for a last `copy_` into each
    argument that it changes, by torch.func.functionalize. Attributes of the names
    `lifted` are arguments after the others. `cause` is why this is needed."""
    placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
    for node in placeholders:
        if "val" not in node.meta:
            raise GraphImportError(
                node,
                f"there is no example value, which '{cause.name}' needs: trace the "
                "function with torch.export.export or make_fx",
            )
    values = [node.meta["val"] for node in placeholders]
    values += [operator.attrgetter(name)(module) for name in lifted]
    mode = detect_fake_mode(values) or torch._subclasses.FakeTensorMode()
    interpreter = _LiftedInterpreter(module, lifted)
    with mode, torch.fx.traceback.preserve_node_meta():
        fakes = [
            mode.from_tensor(value) if isinstance(value, torch.Tensor) else value
            for value in values
        ]
        try:
            functional = torch.func.functionalize(interpreter.run_lifted)
            traced = make_fx(functional, tracing_mode="real")(*fakes)
        except Exception as error:
            raise GraphImportError(
                cause, f"the graph cannot be made functional: {error}"
            ) from error
    # Views that torch has made for versions that nobody reads.
    traced.graph.eliminate_dead_code()
    new = [node for node in traced.graph.nodes if node.op == "placeholder"]
    for node, old in zip(new, placeholders, strict=False):
        node.name = old.name
    return traced
