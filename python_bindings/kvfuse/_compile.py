# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a program to a callable that writes its caches with fused kernels."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ._options import DependentLaunch, Fuse, Negative, Options, OutOfBounds

if TYPE_CHECKING:
    import torch

    from ._compiled import Compiled

__all__ = ["compile"]


def compile(
    program: Callable[..., Any]
    | torch.nn.Module
    | torch.export.ExportedProgram
    | str
    | os.PathLike[str],
    example_inputs: Any = None,
    *,
    dynamic_shapes: Any = "auto",
    target: str | None = None,
    fuse: Fuse = "on",
    mutates: tuple[int, ...] | Literal["auto"] | None = None,
    negative: Negative | None = None,
    out_of_bounds: OutOfBounds | None = None,
    reserved_slot: int | None = None,
    pdl: DependentLaunch | None = None,
    assume_disjoint: bool = False,
    assume_aligned: bool = False,
    unit_stride_only: bool = False,
    no_versioning: bool = False,
    count_branches: bool = True,
    torch_version: Literal["2.13", "2.11"] | None = None,
    optimize: int = 2,
) -> Compiled:
    """Compiles the cache writes of a program; what it returns is called like it.

    program: a function on torch tensors or a torch.nn.Module, which torch.export
        traces with `example_inputs`; an ExportedProgram; an FX GraphModule, as it is
        if there are no inputs; or MLIR, as text or as the path of a file.
    example_inputs: positional arguments in a tuple, or all arguments by name. Only
        sizes, strides (elements) and types are used: caches [B, H, P, D] may be views
        of one pool, of any size. A dimension of size 1 stays 1, so give two tokens or
        more.
    dynamic_shapes: as for torch.export. "auto": dimension 0 of each tensor, that is
        the number of blocks or tokens, may vary unless the program fixes it.
    target: "cpu", or a GPU such as "sm_90"; None: where the program's inputs
        are, and the CPU for MLIR.
    fuse: "on", "off" (each operation of the chain is a kernel), or "required"
        (CompileError if a write is not fused).
    mutates: numbers of the arguments that may be written in place; None: those that
        the program mutates. MLIR text cannot say it and needs them, or "auto".
    negative, out_of_bounds, reserved_slot: what such slots mean, where that differs
        from the program (rules SX4 to SX6 of docs/semantics.md).
    pdl: programmatic dependent launch, from sm_90 on. "off": kernel after kernel;
        "late": the next kernel may start once the rows are stored; "early": at once,
        and then it must itself wait before it reads the caches (rules SP1 to SP4).
        None: "late".
    assume_disjoint, assume_aligned, unit_stride_only, no_versioning: as of
        docs/kvfuse-compile.md.
    count_branches: count which version of a kernel runs, for `Compiled.counters`.
    torch_version: whose casts are meant; None: those of the torch that is there.
    optimize: how much host code is optimised, 0 to 3.
    """
    from ._compiled import Compiled

    with warnings.catch_warnings():
        # torch.export's own, of what it copies.
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        source = _read(program, example_inputs, dynamic_shapes)
    is_text = isinstance(source, str)
    if mutates is None:
        mutates = () if is_text else source.imported.mutates
    options = Options(
        fuse=fuse,
        mutates=mutates,
        torch_version=torch_version or ("2.13" if is_text else _torch_casts()),
        negative=negative,
        out_of_bounds=out_of_bounds,
        reserved_slot=reserved_slot,
        pdl=pdl,
        assume_disjoint=assume_disjoint,
        assume_aligned=assume_aligned,
        unit_stride_only=unit_stride_only,
        no_versioning=no_versioning,
        count_branches=count_branches,
    )
    device = None if is_text else source.device
    here = "cpu" if device is None else _target_of(device)
    compiled = Compiled(source, options, target or here, optimize)
    if compiled.target == here:
        compiled.load(device)
    return compiled


def _read(program: Any, inputs: Any, dynamic_shapes: Any) -> Any:
    """MLIR text, or a `_frontend.Program`."""
    if isinstance(program, os.PathLike):
        return pathlib.Path(program).read_text()
    if isinstance(program, str):
        return program
    import torch

    from . import _frontend

    if isinstance(program, torch.export.ExportedProgram):
        return _frontend.from_exported(program)
    if inputs is not None:
        return _frontend.from_traced(program, inputs, dynamic_shapes)
    if isinstance(program, torch.fx.GraphModule):
        return _frontend.from_graph(program)
    name = getattr(program, "__name__", type(program).__name__)
    raise TypeError(f"{name} is traced by torch.export: expects example_inputs")


def _target_of(device: torch.device) -> str:
    import torch

    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}"


def _torch_casts() -> Literal["2.13", "2.11"]:
    """Whose casts this torch's are (rule SC4): does float8_e4m3fn saturate?"""
    import torch

    largest = torch.finfo(torch.float8_e4m3fn).max
    cast = torch.tensor(1000.0).to(torch.float8_e4m3fn).to(torch.float32)
    return "2.13" if cast.item() == largest else "2.11"
