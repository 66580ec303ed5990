# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's library, as Python functions."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from . import _library, _progress
from ._options import Options

#: What `compile` can emit.
STAGES = ("kv", "writes", "gpu", "nvvm", "ptx", "cubin", "llvm", "obj", "shared")


@dataclasses.dataclass(frozen=True)
class Output:
    """What a compilation gave.

    data: the text or object that was asked for.
    report: the report of docs/kvfuse-compile.md, decoded.
    """

    data: bytes
    report: dict[str, Any]


def compile(
    text: str, *, target: str, emit: str, options: Options, optimize: int = 2
) -> Output:
    """Compiles MLIR `text`, through the cache on disk.

    target: "cpu", or a GPU such as "sm_90". emit: one of STAGES. optimize: how much
    host code is optimised, 0 to 3. Raises CompileError with the located messages.
    """
    if emit not in STAGES:
        raise ValueError(f"expects one of {', '.join(STAGES)}, got {emit!r}")
    with _progress.shown() as progress:
        data, report = _library.compiler().compile(
            text, options.text(), target, emit, optimize, progress
        )
    return Output(bytes(data), json.loads(str(report)))


def load(obj: bytes) -> Mapping[str, Callable[..., Any]]:
    """Links an object in this process; its functions by name.

    For a GPU each NAME comes with NAME_load, which loads its kernels on the device of
    the given number. `branch_counts` is there if the object counts them.
    """
    return dict(_library.compiler().load(obj).items())
