# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the operations of a graph take, write and alias, by their schemas."""

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .importer_locations import GraphImportError


def is_operator(node: torch.fx.Node) -> bool:
    """Is this a call of an operator of torch's library, which has a schema?"""
    return isinstance(node.target, torch._ops.OpOverload)


def is_higher_order(node: torch.fx.Node) -> bool:
    """Is this a call of an operator that takes graphs or other operators?"""
    return isinstance(node.target, torch._ops.HigherOrderOperator)


def changes_shape(node: torch.fx.Node) -> bool:
    """Does an operator change the shape, strides or memory of what it takes, as
    `transpose_` and `set_` do?"""
    return is_operator(node) and torch.Tag.inplace_view in node.target.tags


def is_getitem(node: torch.fx.Node) -> bool:
    """Does the node pick one of several results?"""
    return node.target is operator.getitem


def bind(
    node: torch.fx.Node, schema: torch.FunctionSchema
) -> list[tuple[torch.Argument, Any]]:
    """The formal and the actual arguments of a call, defaults included."""
    pairs = []
    for number, formal in enumerate(schema.arguments):
        if number < len(node.args) and not formal.kwarg_only:
            actual = node.args[number]
        elif formal.name in node.kwargs:
            actual = node.kwargs[formal.name]
        elif formal.has_default_value():
            actual = formal.default_value
        else:
            raise GraphImportError(node, f"argument '{formal.name}' is missing")
        pairs.append((formal, actual))
    return pairs


def nodes_in(argument: Any) -> Iterator[torch.fx.Node]:
    """The nodes in an actual argument: in a list, a dict, or one alone."""
    for leaf in pytree.tree_leaves(argument):
        if isinstance(leaf, torch.fx.Node):
            yield leaf


def is_written(formal: torch.Argument) -> bool:
    """Is the argument written in place?"""
    return formal.alias_info is not None and formal.alias_info.is_write


def _subgraphs(node: torch.fx.Node) -> Iterator[torch.fx.GraphModule]:
    """The graphs that a higher-order operator takes."""
    for argument in nodes_in((node.args, node.kwargs)):
        if argument.op == "get_attr":
            graph = read_attribute(argument)
            if isinstance(graph, torch.fx.GraphModule):
                yield graph


def read_attribute(node: torch.fx.Node) -> Any:
    """What a `get_attr` node names."""
    value = node.graph.owning_module
    for part in str(node.target).split("."):
        value = getattr(value, part)
    return value


def is_tensor_node(node: torch.fx.Node) -> bool:
    """Is the node's value one tensor?"""
    return isinstance(node.meta.get("val"), torch.Tensor)


def written_nodes(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The tensors that `node` writes in place. A higher-order operator that writes
    any, or whose graphs do, is taken to write all of them."""
    if is_operator(node):
        pairs = bind(node, node.target._schema)
        return [n for formal, a in pairs if is_written(formal) for n in nodes_in(a)]
    if not is_higher_order(node):
        return []
    writes = node.target.name().endswith("_mutation") or any(
        written_nodes(inner)
        for graph in _subgraphs(node)
        for inner in graph.graph.nodes
    )
    if not writes:
        return []
    return [n for n in nodes_in((node.args, node.kwargs)) if is_tensor_node(n)]


def returned_argument(
    node: torch.fx.Node, returned: torch.Argument
) -> torch.fx.Node | None:
    """The written argument that a result of an operator is, or None."""
    info = returned.alias_info
    if info is None or not info.is_write:
        return None
    for formal, actual in bind(node, node.target._schema):
        if is_written(formal) and formal.alias_info.before_set & info.before_set:
            return actual if isinstance(actual, torch.fx.Node) else None
    return None


def viewed_nodes(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The tensors that results of `node` may share memory with, other than those
    that it writes and returns."""
    if is_getitem(node):
        return [node.args[0]]
    if not is_operator(node):
        return []
    shared: set[str] = set()
    for returned in node.target._schema.returns:
        info = returned.alias_info
        if info is not None and not info.is_write:
            shared |= info.before_set | info.after_set
    return [
        viewed
        for formal, actual in bind(node, node.target._schema)
        if formal.alias_info is not None
        and ("*" in shared or formal.alias_info.before_set & shared)
        for viewed in nodes_in(actual)
    ]


def returns_list(node: torch.fx.Node) -> bool:
    """Is the result of an operator one list of tensors?"""
    if not is_operator(node):
        return False
    returns = node.target._schema.returns
    return len(returns) == 1 and str(returns[0].type) == "List[Tensor]"


def own_results(node: torch.fx.Node) -> Any:
    """The traced results of a node, None for each that is an operand it writes."""
    if is_operator(node):
        returns = node.target._schema.returns
        own = [returned_argument(node, result) is None for result in returns]
        if not any(own):
            return ()
        if not all(own):
            pairs = zip(node.meta["val"], own, strict=True)
            return tuple(value if is_own else None for value, is_own in pairs)
    if "val" not in node.meta:
        raise GraphImportError(node, "there is no example value of its results")
    return node.meta["val"]


def makes_new_tensors(node: torch.fx.Node) -> bool:
    """Are the results of an operator in memory of their own, by its schema and by
    the storages of the traced tensors? Composite operators may hand on what they
    take, and so does `_unsafe_view`."""
    if not is_operator(node) or node.target is torch.ops.aten._unsafe_view.default:
        return False
    schema = node.target._schema
    formals = (*schema.arguments, *schema.returns)
    if any(formal.alias_info is not None for formal in formals):
        return False
    key = "CompositeImplicitAutograd"
    if torch._C._dispatch_has_kernel_for_dispatch_key(node.target.name(), key):
        return False
    taken = [n.meta.get("val") for n in node.all_input_nodes]
    return not _storages(taken) & _storages(node.meta.get("val"))


def _storages(values: Any) -> set[int]:
    """The storages of the dense tensors in `values`."""
    return {
        value.untyped_storage()._cdata
        for value in pytree.tree_leaves(values)
        if isinstance(value, torch.Tensor) and value.layout is torch.strided
    }


def functionalized_base(node: torch.fx.Node) -> torch.fx.Node | None:
    """The tensor of which `node`, a result that `auto_functionalized` has for a
    written operand, is the next version, or None."""
    if not is_getitem(node) or not is_higher_order(node.args[0]):
        return None
    call, index = node.args
    name = call.target.name()
    if not name.startswith("auto_functionalized"):
        return None
    schema = call.args[0]._schema
    # An operator that returns nothing has a None in front.
    index -= max(1, len(schema.returns))
    if name == "auto_functionalized_v2":
        written = call.kwargs["_all_bases"]
    else:
        written = [call.kwargs[a.name] for a in schema.arguments if is_written(a)]
    base = written[index] if 0 <= index < len(written) else None
    return base if isinstance(base, torch.fx.Node) else None
