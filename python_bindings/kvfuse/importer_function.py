# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph, node by node, as a function in the Torch dialect, on tensors as values."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils import _pytree as pytree

from . import importer_schema as schema
from . import importer_types as types
from .importer_locations import (
    GraphImportError,
    name_location,
    node_location,
    results_location,
)
from .importer_names import (
    INT_OPERATORS,
    SCALAR_TWINS,
    UNREGISTERED,
    call_name,
    operator_name,
)
from .importer_operands import Operands
from .importer_parts import list_parts, used_parts
from .importer_program import Program
from .importer_text import Argument, Block, Value
from .importer_versions import VERSIONS, Versions, result_names

#: Says that results share no memory with operands.
_NEW_RESULTS = "kv.new_results"


class FunctionImporter:
    """Imports the graph of a program; `block` has its operations then."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._graph = program.module.graph
        nodes = [item.node for item in program.inputs]
        self._versions = Versions(self._graph, nodes)
        self.block = Block()
        self._operands = Operands(self.block, self._resolve)
        self.arguments: list[Argument] = []

    def run(self) -> None:
        """Imports arguments and nodes."""
        for item in self._program.inputs:
            self._add_argument(item.node, item.name)
        for node in self._graph.nodes:
            if node.op == "call_function":
                self._import_call(node)
            elif node.op not in ("get_attr", "output", "placeholder"):
                raise GraphImportError(node, f"'{node.op}' is not supported")
        for target, contents in self._program.updates:
            self._update(target, contents, node_location(target))

    def _add_argument(self, node: torch.fx.Node, name: str) -> None:
        if node.op == "get_attr":
            value = schema.read_attribute(node)
        elif "val" in node.meta:
            value = node.meta["val"]
        else:
            raise GraphImportError(node, "there is no example value of this input")
        kind, location = types.value_type(value), name_location(name, node)
        self._versions.define(node, Value(f"%arg{len(self.arguments)}", kind))
        self.arguments.append(Argument(name, kind, location))

    def _resolve(self, node: torch.fx.Node) -> Value:
        location = node_location(node)
        if node in self._program.constants:
            return self._operands.constant(self._program.constants[node], location)
        value = self._versions.get(node)
        if isinstance(value, Value):
            return value
        values = pytree.tree_leaves(value)
        name = "torch.prim.TupleConstruct"
        return self.block.opaque(name, values, [types.ANY], location)[0]

    # What the program returns

    @property
    def mutated(self) -> list[int]:
        """Numbers of the arguments that are written."""
        return sorted(self._versions.mutated)

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
        number = self._versions.argument_number(output)
        if number is None and self._program.returns_updated:
            for target, contents in self._program.updates:
                if contents is output:
                    return self._versions.argument_number(target)
        return number

    def copy_of(self, value: Value) -> Value:
        """A tensor of its own with the contents of `value`."""
        location = node_location(self._graph.output_node())
        none = self._operands.constant(None, location)
        name = "torch.aten.clone"
        return self.block.add(name, [value, none], [value.type], location)[0]

    # Nodes

    def _import_call(self, node: torch.fx.Node) -> None:
        if schema.is_getitem(node):
            self._import_getitem(node)
        elif schema.is_operator(node):
            self._import_operator(node)
        elif schema.is_higher_order(node):
            self._import_opaque(call_name(node), node, schema.written_nodes(node))
        else:
            self._import_python(node)

    def _import_getitem(self, node: torch.fx.Node) -> None:
        source, index = node.args
        values = self._versions.get(source)
        if isinstance(values, (list, tuple, dict)) and not isinstance(index, slice):
            self._versions.define(node, values[index])
        else:
            self._import_opaque("torch.python.getitem", node)

    def _import_operator(self, node: torch.fx.Node) -> None:
        target, location = node.target, node_location(node)
        if schema.changes_shape(node):
            raise GraphImportError(node, "changes the shape of a tensor in place")
        if target is torch.ops.aten.copy_.default:
            self._update(node.args[0], node.args[1], location)
            return
        parts = list_parts(node)
        if parts is not None:
            self._import_parts(node, parts)
            return
        name = operator_name(target)
        pairs = schema.bind(node, target._schema)
        actuals = [actual for _, actual in pairs]
        formals = [str(formal.type) for formal, _ in pairs]
        if name in SCALAR_TWINS and not _is_tensor(actuals[1]):
            name = SCALAR_TWINS[name]
            formals[1] = "number"
        operands = [
            self._operands.convert(actual, location, formal)
            for actual, formal in zip(actuals, formals, strict=True)
        ]
        written = schema.written_nodes(node)
        if written:
            self._import_write(node, name, operands, written)
            return
        is_known = target.namespace in ("aten", "prims") and name not in UNREGISTERED
        # Strides count from the start of memory, which a type does not know.
        if "as_strided" in name and not _is_plain(_example(actuals[0])):
            name = name.replace("torch.aten.", "torch.memory.")
            is_known = False
        self._add(node, name, operands, is_known)

    def _import_parts(
        self, node: torch.fx.Node, parts: Sequence[tuple[str, list[Any]]]
    ) -> None:
        """Views of one tensor, each for itself."""
        examples = node.meta["val"]
        names = result_names(node, examples)
        values: list[Value | None] = [None] * len(parts)
        for number in used_parts(node):
            name, actuals = parts[number]
            location = name_location(names[number], node)
            operands = [self._operands.convert(a, location) for a in actuals]
            kinds = [types.value_type(examples[number])]
            (values[number],) = self.block.add(name, operands, kinds, location)
        self._versions.define(node, values)

    def _import_opaque(
        self, name: str, node: torch.fx.Node, written: Sequence[torch.fx.Node] = ()
    ) -> None:
        location = node_location(node)
        actuals = [*node.args, *node.kwargs.values()]
        operands = [self._operands.convert(actual, location) for actual in actuals]
        self._add(node, name, operands, written=written)

    def _import_python(self, node: torch.fx.Node) -> None:
        """Python's arithmetic on sizes."""
        kinds = [types.value_type(_example(actual)) for actual in node.args]
        name = INT_OPERATORS.get(node.target)
        if name and set(kinds) == {types.INT}:
            location = node_location(node)
            operands = [self._operands.convert(a, location) for a in node.args]
            self._add(node, f"torch.aten.{name}.int", operands, is_known=True)
        else:
            name = getattr(node.target, "__name__", str(node.target))
            self._import_opaque(f"torch.python.{name}", node)

    # Writes

    def _update(self, target: torch.fx.Node, contents: Any, location: str) -> None:
        """`target` has `contents` from here on: its next version as it is, anything
        else copied."""
        old, new = self._resolve(target), self._operands.convert(contents, location)
        is_version = self._versions.is_version(contents, target)
        if new.type != old.type or not is_version:
            flag = self._operands.constant(False, location)
            name, operands = "torch.aten.copy", [old, new, flag]
            (new,) = self.block.add(name, operands, [old.type], location)
        self._versions.write(target, new)

    def _import_write(
        self,
        node: torch.fx.Node,
        name: str,
        operands: Sequence[Value],
        written: Sequence[torch.fx.Node],
    ) -> None:
        """An operator that writes some of its operands."""
        packet = node.target._schema.name
        if packet.endswith("_") and packet.removesuffix("_") in VERSIONS:
            name = name.replace(packet[6:], packet[6:-1], 1)
            kinds, location = [operands[0].type], node_location(node)
            add = self.block.opaque if name in UNREGISTERED else self.block.add
            (value,) = add(name, operands, kinds, location)
            self._versions.write(written[0], value)
        else:
            self._add(node, name, operands, written=written)

    # Results

    def _add(
        self,
        node: torch.fx.Node,
        name: str,
        operands: Sequence[Value],
        is_known: bool = False,
        written: Sequence[torch.fx.Node] = (),
    ) -> None:
        """Adds the operation, its results, and the next versions of `written`."""
        results = schema.own_results(node)
        examples, tree = pytree.tree_flatten(results)
        kinds = [types.value_type(example) for example in examples]
        kinds += [self._resolve(tensor).type for tensor in written]
        names = result_names(node, results)
        names += [self._versions.first(tensor).name for tensor in written]
        location = results_location(names, node)
        mark = _NEW_RESULTS if schema.makes_new_tensors(node) else ""
        add = self.block.add if is_known else self.block.opaque
        if schema.returns_list(node):
            packed = add(name, operands, [types.LIST], location, mark=mark)
            values = self.block.add("torch.prim.ListUnpack", packed, kinds, location)
        else:
            values = add(name, operands, kinds, location, mark=mark)
        own = values[: len(examples)]
        self._versions.define(node, pytree.tree_unflatten(own, tree))
        for tensor, value in zip(written, values[len(examples) :], strict=True):
            self._versions.write(tensor, value)


def _example(argument: Any) -> Any:
    """The traced value of an argument."""
    if isinstance(argument, torch.fx.Node):
        return argument.meta.get("val")
    return argument


def _is_tensor(argument: Any) -> bool:
    return isinstance(_example(argument), torch.Tensor)


def _is_plain(value: object) -> bool:
    """Does a tensor lie in memory as its type says, from the start of it? No guard is
    put on sizes that are symbols."""
    if not isinstance(value, torch.Tensor):
        return False
    expected: int | torch.SymInt = 1
    for size, stride in zip(
        reversed(value.shape), reversed(value.stride()), strict=True
    ):
        is_one = statically_known_true(size == 1)
        if not is_one and not statically_known_true(stride == expected):
            return False
        expected = expected * size
    return statically_known_true(value.storage_offset() == 0)
