# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused cache writes in what `torch.compile` makes.

    kvfuse.torch.enable()            # for Inductor: a pass on each graph
    model = torch.compile(model)

    model = torch.compile(model, backend="kvfuse")    # without Inductor

Either way each group of cache writes of a graph becomes one call, in place, and all
other nodes stay what they are. What is done is logged by the logger "kvfuse".
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import logging
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import register_backend
from torch._functorch.aot_autograd import make_boxed_func
from torch._inductor import config
from torch._inductor import custom_graph_pass as passes
from torch._inductor.fx_passes.reinplace import reinplace_inplaceable_ops_core
from torch.fx import Graph, GraphModule

from . import _library
from ._compile import _torch_casts
from ._options import Options
from ._version import __version__
from .torch_lowering import register_lowering
from .torch_match import fuse
from .torch_ops import emit_functional, emit_in_place

__all__ = ["Statistics", "backend", "disable", "enable", "statistics"]

log = logging.getLogger("kvfuse")


@dataclasses.dataclass
class Statistics:
    """What was done since `enable`.

    graphs: graphs that were looked at. sites: groups of writes that became calls.
    refused: writes, or groups of them, that had to stay as they are.
    """

    graphs: int = 0
    sites: int = 0
    refused: int = 0


_statistics = Statistics()


def statistics() -> Statistics:
    """What was done since the last `enable`, by the pass and by the backend."""
    return dataclasses.replace(_statistics)


def _make_options(options: dict[str, Any]) -> Options:
    """`options` by the names of `kvfuse.compile`."""
    return Options(**{"torch_version": _torch_casts(), **options})


def _fuse(module: GraphModule, options: Options, is_functional: bool) -> None:
    """Replaces what can be fused in `module`, and says so."""
    emit = emit_functional if is_functional else emit_in_place
    result = fuse(module, options, emit, is_functional)
    _statistics.graphs += 1
    _statistics.sites += len(result.replaced)
    _statistics.refused += len(result.refused)
    if result.replaced:
        log.debug("%d groups of writes are one call each", len(result.replaced))
    else:
        log.debug("a graph without a cache write that can be fused: unchanged")


@functools.cache
def _identity() -> str:
    """A hash of all that a compilation depends on but its input."""
    sources = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(__version__.encode())
    for path in [*sources, _library.find("libkvfuse.so")]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


#: A pass that is told whether its graph is for inference; not in every torch.
_AwarePass = getattr(passes, "CustomInferenceAwareGraphPass", passes.CustomGraphPass)


class WritePass(_AwarePass):
    """Inductor's post-grad pass: runs `others`, then fuses the cache writes."""

    def __init__(self, options: Options, others: Sequence[Callable[..., None]]) -> None:
        self.options = options
        self.others = tuple(others)
        self.is_enabled = True

    def __call__(self, graph: Graph, is_inference: bool | None = None) -> None:
        """Rewrites `graph`, functional but for copies into its inputs."""
        for other in self.others:
            is_aware = is_inference is not None and isinstance(other, _AwarePass)
            other(*((graph, is_inference) if is_aware else (graph,)))
        if self.is_enabled:
            register_lowering()
            _fuse(graph.owning_module, self.options, is_functional=True)

    def uuid(self) -> Any:
        """What Inductor's cache tells graphs of this pass by; None: not to be kept,
        as one of the others has no such identity."""
        others = [
            other.uuid() if isinstance(other, passes.CustomGraphPass) else None
            for other in self.others
        ]
        if None in others:
            return None
        own = (_identity(), self.options) if self.is_enabled else None
        return repr((own, others))


def _current_passes() -> list[Callable[..., None]]:
    """The passes that Inductor is configured to run where this one runs."""
    current = config.post_grad_custom_pre_pass
    if current is None:
        return []
    return list(current) if isinstance(current, (list, tuple)) else [current]


def enable(**options: Any) -> None:
    """Has Inductor fuse the cache writes of all graphs that it compiles from now on.

    `options` are those of `kvfuse.compile`: fuse, negative, out_of_bounds,
    reserved_slot, pdl, assume_disjoint, assume_aligned, unit_stride_only,
    no_versioning.
    A pass that was configured before runs first.
    """
    global _statistics
    made = _make_options(options)
    disable()
    _statistics = Statistics()
    config.post_grad_custom_pre_pass = WritePass(made, _current_passes())


def disable() -> None:
    """Undoes `enable`; what is compiled already stays as it is."""
    current = config.post_grad_custom_pre_pass
    if isinstance(current, WritePass):
        others = current.others
        config.post_grad_custom_pre_pass = (
            others[0] if len(others) == 1 else (others or None)
        )
        return
    # Somebody's pass may run this one.
    for one in _current_passes():
        if isinstance(one, WritePass):
            one.is_enabled = False


def backend(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: dict[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The backend of `torch.compile(..., backend="kvfuse", options={...})`.

    `options` are those of `enable`. All nodes but the fused writes run as in eager
    mode.
    """
    if mode not in (None, "default"):
        raise ValueError(f"mode: backend 'kvfuse' has none, got {mode!r}")
    made = _make_options(options or {})

    def compile_graph(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        _fuse(graph, made, is_functional=False)
        # Other writes are done in place as well, where eager mode's were.
        with enable_python_dispatcher():
            reinplace_inplaceable_ops_core(graph.graph)
        graph.recompile()
        return make_boxed_func(graph.forward)

    compiler = aot_autograd(
        fw_compiler=compile_graph,
        bw_compiler=lambda graph, inputs: make_boxed_func(graph.forward),
        keep_inference_input_mutations=True,
    )
    return compiler(module, example_inputs)


# An installed package has an entry point for that.
if not importlib.metadata.entry_points(group="torch_dynamo_backends", name="kvfuse"):
    register_backend(backend, name="kvfuse")
