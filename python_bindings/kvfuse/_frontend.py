# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Torch programs on their way in: functions, modules, exported programs, graphs."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.utils import _pytree as pytree

from . import _guards, _tracing, importer

_BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_NO_VALUE = object()


@dataclasses.dataclass(frozen=True)
class FlatInput:
    """Number of a leaf of the caller's inputs."""

    number: int


@dataclasses.dataclass(frozen=True)
class Program:
    """A torch program as the compiler reads it, and how it is called.

    original: what runs where nothing is compiled.
    signature: by which calls are bound; spec: the tree of what they bind.
    arguments: for each argument of the MLIR function, the leaf of the inputs it is, or
        the module's own tensor.
    argument_nodes: the names of the nodes that are these arguments.
    placeholders: the same as `arguments` for each placeholder of `imported.program`.
    mutated: numbers of the leaves of the inputs that are written.
    updated: for each leading output of `imported.program` that is the new contents of
        an argument, the number of this; the graph of an exported program has them.
    outputs: for each leaf of what the program returns, the input that it is, or what
        the graph returns: a node, or a constant.
    out_spec: the tree of the outputs.
    """

    original: Callable[..., Any]
    imported: importer.Imported
    signature: inspect.Signature
    spec: pytree.TreeSpec
    names: tuple[str, ...]
    arguments: tuple[Any, ...]
    argument_nodes: tuple[str, ...]
    placeholders: tuple[Any, ...]
    mutated: frozenset[int]
    updated: tuple[int, ...]
    outputs: tuple[Any, ...]
    out_spec: pytree.TreeSpec
    guards: _guards.Guards

    def leaves(self, args: tuple, kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of a call's inputs; TypeError if the call has another shape."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        leaves, spec = pytree.tree_flatten(dict(bound.arguments))
        if spec != self.spec:
            raise TypeError(
                f"the arguments are nested as {spec}; compiled for {self.spec}"
            )
        return leaves

    def select(self, leaves: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
        """The values that `arguments`, `placeholders` or `outputs` have in a call."""
        return [leaves[w.number] if isinstance(w, FlatInput) else w for w in wanted]

    def returned(self, outputs: Sequence[Any]) -> Any:
        """The program's outputs as its caller gets them."""
        return pytree.tree_unflatten(outputs, self.out_spec)

    @property
    def device(self) -> torch.device | None:
        """The CUDA device of the program's tensors, if they are on one."""
        for value in (*self.guards.values, *self.arguments):
            if isinstance(value, torch.Tensor) and value.is_cuda:
                return value.device
        return None

    @property
    def has_own_tensors(self) -> bool:
        """Are there arguments that no caller passes: parameters, buffers?"""
        return not all(isinstance(leaf, FlatInput) for leaf in self.arguments)

    @property
    def takes_tensors(self) -> bool:
        """Are the arguments of the MLIR function the first inputs, in order?

        All other inputs have the values that were traced if they are left out.
        """
        parameters = list(self.signature.parameters.values())
        count = len(self.arguments)
        flat = pytree.tree_structure(dict.fromkeys(self.signature.parameters))
        return (
            self.spec == flat
            and self.arguments == tuple(map(FlatInput, range(count)))
            and all(p.kind in _BY_POSITION for p in parameters[:count])
            and all(
                self.guards.constants.get(number, _NO_VALUE) is parameter.default
                for number, parameter in enumerate(parameters)
                if number >= count
            )
        )


def from_traced(
    function: Callable[..., Any] | torch.nn.Module, inputs: Any, dynamic_shapes: Any
) -> Program:
    """Traces a function or module and imports it."""
    traced = _tracing.trace(function, inputs, dynamic_shapes)
    paths, spec = pytree.tree_flatten_with_path(traced.inputs)
    keys = [pytree.keystr(path) for path, _ in paths]
    return _program(traced.exported, function, traced.signature, spec, keys)


def from_exported(exported: ExportedProgram) -> Program:
    """Imports a program that is exported already."""
    names = iter(exported.graph_signature.user_inputs)
    args, kwargs = exported.call_spec.in_spec.children()
    parameters, sample = [], {}
    for child in args.children():
        first = [next(names) for _ in range(child.num_leaves)]
        name = str(first[0]) if child.is_leaf() else f"arg{len(parameters)}"
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(name, kind))
        sample[name] = pytree.tree_unflatten(first, child)
    for name, child in zip(kwargs.context, kwargs.children(), strict=True):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY))
        sample[name] = pytree.tree_unflatten(
            [next(names) for _ in range(child.num_leaves)], child
        )
    paths, spec = pytree.tree_flatten_with_path(sample)
    keys = [pytree.keystr(path) for path, _ in paths]
    signature = inspect.Signature(parameters)
    return _program(exported, exported.module(), signature, spec, keys)


def _program(
    exported: ExportedProgram,
    original: Callable[..., Any],
    signature: inspect.Signature,
    spec: pytree.TreeSpec,
    keys: list[str],
) -> Program:
    imported = importer.to_mlir(exported)
    users: dict[str, FlatInput] = {}
    own: dict[str, str] = {}
    placeholders, constants = [], {}
    for entry in exported.graph_signature.input_specs:
        if entry.kind == InputKind.USER_INPUT:
            leaf = FlatInput(len(users))
            users[entry.arg.name] = leaf
            placeholders.append(leaf)
            if isinstance(entry.arg, ConstantArgument):
                constants[leaf.number] = entry.arg.value
        else:
            placeholders.append(_own_tensor(exported, entry.target))
            own[entry.target] = entry.arg.name
    arguments = [
        users[name] if kind == "user" else _own_tensor(exported, name)
        for kind, name in imported.sources
    ]
    leaves = [
        node.meta.get("val")
        for node in exported.graph.nodes
        if node.op == "placeholder" and node.name in users
    ]
    mutated = _mutated(imported, arguments)
    return Program(
        original=original,
        imported=imported,
        signature=signature,
        spec=spec,
        names=tuple(_guards.spell(key) for key in keys),
        arguments=tuple(arguments),
        argument_nodes=tuple(
            name if kind == "user" else own[name] for kind, name in imported.sources
        ),
        placeholders=tuple(placeholders),
        mutated=mutated,
        updated=imported.results[: imported.updates],
        outputs=_outputs(imported, arguments, imported.updates),
        out_spec=exported.call_spec.out_spec,
        guards=_guards.of_export(exported, keys, leaves, constants, mutated),
    )


def _own_tensor(exported: ExportedProgram, name: str) -> Any:
    """A parameter, buffer or constant of the module, by its qualified name."""
    if name in exported.state_dict:
        return exported.state_dict[name]
    return exported.constants[name]


def _mutated(imported: importer.Imported, arguments: Sequence[Any]) -> frozenset[int]:
    """The leaves of the inputs that the program writes."""
    mutated = (arguments[number] for number in imported.mutates)
    return frozenset(leaf.number for leaf in mutated if isinstance(leaf, FlatInput))


def _outputs(
    imported: importer.Imported, arguments: Sequence[Any], first: int
) -> tuple[Any, ...]:
    """What the program returns: the outputs of its graph from number `first` on."""
    (returned,) = imported.program.graph.output_node().args
    results = imported.results[imported.updates :]
    return tuple(
        leaf if number is None else arguments[number]
        for number, leaf in zip(
            results, pytree.tree_leaves(returned)[first:], strict=True
        )
    )


def from_graph(module: torch.fx.GraphModule) -> Program:
    """Imports an FX graph as it is; its nodes know the types of their values."""
    imported = importer.to_mlir(module)
    nodes = [n for n in module.graph.nodes if n.op == "placeholder"]
    users = {node.name: FlatInput(i) for i, node in enumerate(nodes)}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(n, kind) for n in users])
    spec = pytree.tree_structure(dict.fromkeys(users))
    arguments = [
        users[name] if kind == "user" else _attribute(module, name)
        for kind, name in imported.sources
    ]
    own = {n.target: n.name for n in module.graph.nodes if n.op == "get_attr"}
    (returned,) = module.graph.output_node().args
    return Program(
        original=module,
        imported=imported,
        signature=signature,
        spec=spec,
        names=tuple(users),
        arguments=tuple(arguments),
        argument_nodes=tuple(
            name if kind == "user" else own[name] for kind, name in imported.sources
        ),
        placeholders=tuple(users.values()),
        mutated=_mutated(imported, arguments),
        updated=(),  # The graph has copies into its inputs instead.
        outputs=_outputs(imported, arguments, 0),
        out_spec=pytree.tree_structure(returned),
        guards=_guards.of_graph([node.meta.get("val") for node in nodes], list(users)),
    )


def _attribute(module: torch.fx.GraphModule, target: str) -> Any:
    """What a get_attr node of the graph yields."""
    value: Any = module
    for name in target.split("."):
        value = getattr(value, name)
    return value
