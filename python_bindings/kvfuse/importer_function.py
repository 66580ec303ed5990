# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph, node by node, as a function in the Torch dialect.

Tensors are values: a node that writes one in place gives its next version, which
every later node reads.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import importer_schema as schema
from . import importer_types as types
from .importer_aliases import SameTensors
from .importer_locations import (
    GraphImportError,
    name_location,
    node_location,
)
from .importer_operands import Operands
from .importer_program import Program
from .importer_text import Argument, Block, Value

#: Operators with a twin that takes a number for a tensor.
_SCALAR_TWINS = {
    "torch.aten.add.Tensor": "torch.aten.add.Scalar",
    "torch.aten.div.Tensor": "torch.aten.div.Scalar",
    "torch.aten.floor_divide": "torch.aten.floor_divide.Scalar",
    "torch.aten.mul.Tensor": "torch.aten.mul.Scalar",
    "torch.aten.sub.Tensor": "torch.aten.sub.Scalar",
}

#: Operators that return a new version of their first operand, of its type.
_VERSIONS = {
    "_index_put_impl",
    "_unsafe_index_put",
    "as_strided_scatter",
    "copy",
    "diagonal_scatter",
    "fill",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "masked_fill",
    "masked_scatter",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
    "zero",
}

#: What Python's operators on sizes are in TorchScript.
_INT_OPERATORS: dict[Callable, str] = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.floordiv: "floordiv",
    operator.mod: "remainder",
    operator.neg: "neg",
    operator.eq: "eq",
    operator.ne: "ne",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
}


def _operator_name(target: torch._ops.OpOverload) -> str:
    """`torch.aten.index_put`, `torch.aten.size.int`, and so on."""
    name = target._schema.name.replace("::", ".")
    # The symbolic reads of sizes are the plain ones.
    name = name.replace("aten.sym_", "aten.")
    overload = target._schema.overload_name
    return f"torch.{name}.{overload}" if overload else f"torch.{name}"


def _is_plain(value: object) -> bool:
    """Does a tensor lie in memory as its type says, from the start of it?"""
    return (
        isinstance(value, torch.Tensor)
        and value.is_contiguous()
        and value.storage_offset() == 0
    )


class FunctionImporter:
    """Imports the graph of a program; `block` has its operations then."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._graph = program.module.graph
        self._same = SameTensors(self._graph)
        #: A value, or a tree of values, for each node.
        self._values: dict[torch.fx.Node, Any] = {}
        self._numbers = {i.node: n for n, i in enumerate(program.inputs)}
        self.block = Block()
        self._operands = Operands(self.block, self._resolve)
        #: Numbers of the arguments that are written.
        self.mutated: set[int] = set()
        self.arguments: list[Argument] = []

    def run(self) -> None:
        """Imports arguments and nodes."""
        for item in self._program.inputs:
            self._add_argument(item.node, item.name)
        for node in self._graph.nodes:
            if node in self._program.constants or node in self._numbers:
                continue
            if node.op == "call_function":
                self._import_call(node)
            elif node.op not in ("output", "get_attr"):
                raise GraphImportError(node, f"'{node.op}' is not supported")
        for target, contents in self._program.updates:
            self._update(target, contents, node_location(contents))

    def _add_argument(self, node: torch.fx.Node, name: str) -> None:
        if node.op == "get_attr":
            value = schema.read_attribute(node)
        elif "val" in node.meta:
            value = node.meta["val"]
        else:
            raise GraphImportError(node, "there is no example value of this input")
        kind, location = types.value_type(value), name_location(name, node)
        self._values[node] = Value(f"%arg{len(self.arguments)}", kind)
        self.arguments.append(Argument(name, kind, location))

    # Values

    def _resolve(self, node: torch.fx.Node) -> Value:
        node = self._same.first(node)
        if node in self._program.constants:
            constant = self._program.constants[node]
            return self._operands.constant(constant, node_location(node))
        value = self._values[node]
        if isinstance(value, Value):
            return value
        values = pytree.tree_leaves(value)
        name, location = "torch.prim.TupleConstruct", node_location(node)
        return self.block.add(name, values, [types.ANY], location)[0]

    def value_of(self, output: Any) -> Value:
        """What the program returns for `output`: a node or a constant."""
        if isinstance(output, torch.fx.Node):
            return self._resolve(output)
        location = node_location(self._graph.output_node())
        return self._operands.constant(output, location)

    def argument_of(self, output: Any) -> int | None:
        """The number of the argument that `output` is after the call, or None."""
        if not isinstance(output, torch.fx.Node):
            return None
        first = self._same.first(output)
        if first in self._numbers:
            return self._numbers[first]
        if self._program.returns_updated:
            for target, contents in self._program.updates:
                if contents is output:
                    return self._numbers[target]
        return None

    def copy_of(self, value: Value) -> Value:
        """A tensor of its own with the contents of `value`."""
        location = node_location(self._graph.output_node())
        none = self._operands.constant(None, location)
        name = "torch.aten.clone"
        return self.block.add(name, [value, none], [value.type], location)[0]

    # Versions

    def _set_version(self, node: torch.fx.Node, value: Value) -> None:
        first = self._same.first(node)
        self._values[first] = value
        if first in self._numbers:
            self.mutated.add(self._numbers[first])

    def _is_version_of(self, contents: Any, target: torch.fx.Node) -> bool:
        """Is `contents` what writes have made of `target`?"""
        while isinstance(contents, torch.fx.Node):
            contents = self._same.first(contents)
            if contents is self._same.first(target):
                return True
            if not schema.is_operator(contents):
                return False
            name = contents.target._schema.name
            if name.partition("::")[2] not in _VERSIONS:
                return False
            contents = contents.args[0]
        return False

    def _update(self, target: torch.fx.Node, contents: Any, location: str) -> None:
        """`target` has `contents` from here on: its next version as it is, anything
        else copied."""
        old, new = self._resolve(target), self._operands.convert(contents, location)
        if new.type != old.type or not self._is_version_of(contents, target):
            flag = self._operands.constant(False, location)
            name, operands = "torch.aten.copy", [old, new, flag]
            (new,) = self.block.add(name, operands, [old.type], location)
        self._set_version(target, new)

    # Nodes

    def _import_call(self, node: torch.fx.Node) -> None:
        if schema.is_getitem(node):
            self._import_getitem(node)
        elif schema.is_operator(node):
            self._import_operator(node)
        elif schema.is_higher_order(node):
            self._import_higher_order(node)
        else:
            self._import_python(node)

    def _import_getitem(self, node: torch.fx.Node) -> None:
        source, index = node.args
        values = self._values.get(source)
        if isinstance(values, (list, tuple, dict)) and not isinstance(index, slice):
            self._values[node] = values[index]
        else:
            self._import_opaque("torch.python.getitem", node)

    def _import_operator(self, node: torch.fx.Node) -> None:
        target, location = node.target, node_location(node)
        written = schema.written_nodes(node)
        if target is torch.ops.aten.copy_.default:
            self._update(node.args[0], node.args[1], location)
            return
        name = _operator_name(target)
        pairs = schema.bind(node, target._schema)
        actuals = [actual for _, actual in pairs]
        if name in _SCALAR_TWINS and not isinstance(
            self._example(actuals[1]), torch.Tensor
        ):
            name = _SCALAR_TWINS[name]
            formals = ["Tensor", *[""] * (len(actuals) - 1)]
        else:
            formals = [str(formal.type) for formal, _ in pairs]
        operands = [
            self._operands.convert(actual, location, formal)
            for actual, formal in zip(actuals, formals, strict=True)
        ]
        if written:
            self._import_write(node, name, operands, written)
            return
        is_strided = target.namespace == "aten" and "as_strided" in target.__name__
        # Strides count from the start of memory, which a type does not know.
        known = not is_strided or _is_plain(self._example(actuals[0]))
        self._add_results(node, name, operands, is_known=known)

    @staticmethod
    def _example(argument: Any) -> Any:
        """The traced value of an argument."""
        if isinstance(argument, torch.fx.Node):
            return argument.meta.get("val")
        return argument

    def _import_write(
        self,
        node: torch.fx.Node,
        name: str,
        operands: Sequence[Value],
        written: Sequence[torch.fx.Node],
    ) -> None:
        """An operator that writes some of its operands."""
        location = node_location(node)
        packet = node.target._schema.name.partition("::")[2]
        if packet.endswith("_") and packet[:-1] in _VERSIONS and len(written) == 1:
            name = name.replace(packet, packet[:-1])
            kinds = [self._resolve(written[0]).type]
            (value,) = self.block.add(name, operands, kinds, location)
            self._set_version(written[0], value)
            return
        self._add_results(node, name, operands, False, written)

    def _import_higher_order(self, node: torch.fx.Node) -> None:
        name = f"torch.higher_order.{node.target.name()}"
        self._import_opaque(name, node, schema.written_nodes(node))

    def _import_opaque(
        self, name: str, node: torch.fx.Node, written: Sequence[torch.fx.Node] = ()
    ) -> None:
        location = node_location(node)
        actuals = [*node.args, *node.kwargs.values()]
        operands = [self._operands.convert(actual, location) for actual in actuals]
        self._add_results(node, name, operands, False, written)

    def _import_python(self, node: torch.fx.Node) -> None:
        """Python's arithmetic on sizes."""
        location = node_location(node)
        examples = [self._example(actual) for actual in node.args]
        name = _INT_OPERATORS.get(node.target)
        if name and all(types.value_type(e) == types.INT for e in examples):
            operands = [self._operands.convert(a, location) for a in node.args]
            self._add_results(node, f"torch.aten.{name}.int", operands)
        else:
            name = getattr(node.target, "__name__", str(node.target))
            self._import_opaque(f"torch.python.{name}", node)

    def _result_examples(self, node: torch.fx.Node) -> Any:
        """The traced results of a node that are none of the operands it writes."""
        if schema.is_operator(node):
            returns = node.target._schema.returns
            if not returns:
                return ()
            own = [schema.returned_argument(node, r) is None for r in returns]
            if len(own) > 1 and not all(own):
                return tuple(
                    value if keep else None
                    for value, keep in zip(node.meta["val"], own, strict=True)
                )
            if not own[0]:
                return ()
        if "val" not in node.meta:
            raise GraphImportError(node, "there is no example value of its results")
        return node.meta["val"]

    def _add_results(
        self,
        node: torch.fx.Node,
        name: str,
        operands: Sequence[Value],
        is_known: bool = True,
        written: Sequence[torch.fx.Node] = (),
    ) -> None:
        """Adds the operation, its results, and the next versions of `written`."""
        examples, tree = pytree.tree_flatten(self._result_examples(node))
        kinds = [types.value_type(example) for example in examples]
        kinds += [self._resolve(tensor).type for tensor in written]
        in_dialect = is_known and name.startswith(("torch.aten.", "torch.prims."))
        add = self.block.add if in_dialect else self.block.opaque
        results = add(name, operands, kinds, node_location(node))
        own = results[: len(examples)]
        if self._same.first(node) is node:
            self._values[node] = pytree.tree_unflatten(own, tree)
        for tensor, value in zip(written, results[len(examples) :], strict=True):
            self._set_version(tensor, value)
