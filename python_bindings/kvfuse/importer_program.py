# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs to import: a functional graph, and what its inputs and outputs are."""

import dataclasses
import re
from typing import Any

import torch
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
)
from torch.utils import _pytree as pytree

from . import importer_schema as schema
from .importer_aliases import find_shared_write, find_untraced, functional_graph

#: Constant tensors of at most so many elements are written into the text.
_LITERAL_ELEMENTS = 1024
#: The names that torch gives to tensors that the model code makes from numbers.
_CONSTANT_NAME = re.compile(r"_?(tensor_constant|lifted_tensor|lifted_tensor_)\d+$")


@dataclasses.dataclass(frozen=True)
class Input:
    """An input that the caller passes: `kind` is "user", "parameter", "buffer",
    "constant" or "attribute", `target` its name there, `name` the model code's."""

    node: torch.fx.Node
    name: str
    kind: str
    target: str


@dataclasses.dataclass(frozen=True)
class Program:
    """A graph in which nothing is written in place through a view.

    `constants` are inputs with a value that never changes. `updates` has the new
    contents of an input, for each that the signature says is mutated. `outputs` are
    what the program returns. `returns_updated`: an output that is the new contents
    of an input is that input itself, not a copy.
    """

    module: torch.fx.GraphModule
    inputs: tuple[Input, ...]
    constants: dict[torch.fx.Node, Any]
    updates: tuple[tuple[torch.fx.Node, torch.fx.Node], ...]
    outputs: tuple[Any, ...]
    returns_updated: bool


def _is_literal(value: Any) -> bool:
    return (
        type(value) in (torch.Tensor, torch.nn.Buffer)
        and value.layout is torch.strided
        and not value.is_complex()
        and not value.is_quantized
        and 0 < value.numel() <= _LITERAL_ELEMENTS
    )


#: Parameters, too, in newer versions than torch 2.11.
_MUTATIONS = {kind for kind in OutputKind if kind.name.endswith("_MUTATION")}
_INPUT_KINDS = {
    InputKind.USER_INPUT: "user",
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant",
    InputKind.CUSTOM_OBJ: "constant",
    InputKind.TOKEN: "user",
}


def _read_input(node: torch.fx.Node, spec: InputSpec) -> Input:
    kind = _INPUT_KINDS[spec.kind]
    target = node.name if spec.target is None else spec.target
    return Input(node, target, kind, target)


def read_exported(program: torch.export.ExportedProgram) -> Program:
    """An exported program, functional if it is not yet."""
    if program.dialect == "TRAINING":
        program = program.run_decompositions({})
    signature, graph = program.graph_signature, program.graph
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    inputs, constants = [], {}
    written = {spec.target for spec in signature.output_specs if spec.target}
    for node, spec in zip(nodes, signature.input_specs, strict=True):
        value = program.constants.get(spec.target) if spec.target else None
        lifted = spec.kind is InputKind.CONSTANT_TENSOR and spec.target not in written
        if isinstance(spec.arg, ConstantArgument):
            constants[node] = spec.arg.value
        elif lifted and _is_literal(value):
            constants[node] = value
        else:
            inputs.append(_read_input(node, spec))
    by_target = {(i.kind == "user", i.target): i.node for i in inputs}
    values = graph.output_node().args[0]
    updates, outputs = [], []
    for value, spec in zip(values, signature.output_specs, strict=True):
        if spec.kind in _MUTATIONS:
            is_user = spec.kind is OutputKind.USER_INPUT_MUTATION
            updates.append((by_target[is_user, spec.target], value))
        else:
            outputs.append(value)
    attributes, more = _read_attributes(graph)
    return Program(
        program.graph_module,
        (*inputs, *attributes),
        constants | more,
        tuple(updates),
        tuple(outputs),
        returns_updated=True,
    )


def _read_attributes(
    graph: torch.fx.Graph,
) -> tuple[list[Input], dict[torch.fx.Node, Any]]:
    """Tensors that a graph has as attributes of its module. Only those that torch
    has made of numbers in the code are known to keep their value."""
    inputs: dict[str, Input] = {}
    constants: dict[torch.fx.Node, Any] = {}
    written = {n for node in graph.nodes for n in schema.written_nodes(node)}
    written_targets = {n.target for n in written if n.op == "get_attr"}
    for node in graph.nodes:
        if node.op != "get_attr":
            continue
        value, target = schema.read_attribute(node), str(node.target)
        is_constant = _CONSTANT_NAME.search(target) and target not in written_targets
        if is_constant and _is_literal(value):
            constants[node] = value
        elif not isinstance(value, torch.Tensor):
            # A graph that a higher-order operator takes, or a script object.
            constants[node] = target
        elif target not in inputs:
            inputs[target] = Input(node, target, "attribute", target)
    return list(inputs.values()), constants


def read_graph(module: torch.fx.GraphModule) -> Program:
    """A graph of operators, as make_fx, AOTAutograd and Inductor make them. One with
    writes through views, or that calls modules and methods, is traced anew."""
    attributes, constants = _read_attributes(module.graph)
    targets = [attribute.target for attribute in attributes]
    cause = find_untraced(module.graph) or find_shared_write(module.graph)
    if cause is not None:
        module = functional_graph(module, targets, cause)
        attributes, constants = _read_attributes(module.graph)
    graph = module.graph
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    users = len(nodes) - (len(targets) if cause is not None else 0)
    inputs = [Input(node, node.name, "user", node.name) for node in nodes[:users]]
    lifted = zip(nodes[users:], targets, strict=False)
    inputs += [Input(node, name, "attribute", name) for node, name in lifted]
    outputs = pytree.tree_leaves(graph.output_node().args[0])
    return Program(
        module,
        (*inputs, *attributes),
        constants,
        updates=(),
        outputs=tuple(outputs),
        returns_updated=False,
    )
