# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing functions and modules by torch.export, with inputs that have no memory.

Example inputs may be as large as the caches of a real engine, and views of one pool:
torch.export sees tensors of their sizes, strides and types only.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._subclasses import FakeTensorMode
from torch.export import Dim, ExportedProgram
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree


@dataclasses.dataclass(frozen=True)
class Traced:
    """A function or module, exported.

    signature: that of its calls. inputs: what it was traced with, by parameter.
    """

    exported: ExportedProgram
    signature: inspect.Signature
    inputs: dict[str, Any]


def trace(
    function: Callable[..., Any] | torch.nn.Module, inputs: Any, dynamic_shapes: Any
) -> Traced:
    """Exports a function or module, as of the arguments of `kvfuse.compile`."""
    module = function if isinstance(function, torch.nn.Module) else _Function(function)
    signature = inspect.signature(module.forward)
    bound = _bind(signature, inputs)
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    fake = pytree.tree_map(lambda leaf: _fake(leaf, mode), dict(bound.arguments))
    shapes = _shapes(fake, dynamic_shapes)
    bound.arguments.update(fake)
    with torch.no_grad():
        exported = torch.export.export(
            module, bound.args, bound.kwargs, dynamic_shapes=shapes
        )
    return Traced(exported, signature, fake)


class _Function(torch.nn.Module):
    """A function as a module; export sees the names of its parameters."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = _renamed(function)


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with frames of the name "forward": export notes the lines of these."""
    if isinstance(function, types.MethodType):
        return types.MethodType(_renamed(function.__func__), function.__self__)
    if not isinstance(function, types.FunctionType):
        return function
    copy = types.FunctionType(
        function.__code__.replace(co_name="forward"),
        function.__globals__,
        "forward",
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(copy, function)


def _fake(leaf: Any, mode: FakeTensorMode) -> Any:
    """A tensor without memory, of the leaf's sizes, strides (elements) and type."""
    if isinstance(leaf, torch.Tensor):
        device = leaf.device
        sizes, strides = leaf.shape, leaf.stride()
        dtype = leaf.dtype
    elif hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        # NumPy or JAX: rows without gaps will do, since no kernel relies on strides.
        device, sizes = torch.device("cpu"), tuple(leaf.shape)
        strides = torch.empty(sizes, device="meta").stride()
        dtype = getattr(torch, str(leaf.dtype))
    else:
        return leaf
    with mode:
        return torch.empty_strided(sizes, strides, dtype=dtype, device=device)


def _dynamic(leaf: Any) -> Any:
    """Dimension 0 may vary; export fixes it if the program needs that."""
    if isinstance(leaf, torch.Tensor):
        return {0: Dim.AUTO} if leaf.dim() else {}
    return None


def _bind(signature: inspect.Signature, inputs: Any) -> inspect.BoundArguments:
    """Example inputs by parameter: a mapping of names, or those in order."""
    if isinstance(inputs, Mapping):
        bound = signature.bind(**inputs)
    else:
        bound = signature.bind(*inputs)
    bound.apply_defaults()
    return bound


def _shapes(bound: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """torch.export's dynamic_shapes by parameter name."""
    if given == "auto":
        return {n: pytree.tree_map(_dynamic, value) for n, value in bound.items()}
    if given is None or isinstance(given, Mapping):
        named = dict(given or {})
    else:
        named = dict(zip(bound, given, strict=False))
    return {name: named.get(name) for name in bound}
