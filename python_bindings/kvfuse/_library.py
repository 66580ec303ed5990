# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds and loads what of kvfuse is compiled: two libraries and an extension module.

All lie in the package's folder in an installed package; otherwise in the folder
that the environment variable KVFUSE_LIB_DIR names; otherwise in build/lib of the
checkout that the package belongs to.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import pathlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tvm_ffi

_PACKAGE = pathlib.Path(__file__).resolve().parent
_RUNTIME = "libkvfuse_runtime.so"
_COMPILER = "libkvfuse.so"
_TENSOR_CALL = "_tensor_call"


class CompileError(RuntimeError):
    """A program could not be compiled; the message has the locations."""


def _folders() -> list[pathlib.Path]:
    """Where the libraries may be, in the order in which they are looked for."""
    configured = os.environ.get("KVFUSE_LIB_DIR")
    return [
        _PACKAGE,
        *([pathlib.Path(configured)] if configured else []),
        _PACKAGE.parents[1] / "build" / "lib",
    ]


def find(name: str) -> pathlib.Path:
    """The path of library `name`; FileNotFoundError says where it was looked for."""
    folders = _folders()
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    places = ", ".join(map(str, folders))
    raise FileNotFoundError(
        f"{name} is in none of {places}: run `make build`, or set KVFUSE_LIB_DIR to "
        "the folder that holds it"
    )


@functools.cache
def runtime() -> ctypes.CDLL:
    """The runtime's library, for the compiled functions that are loaded later."""
    import tvm_ffi  # noqa: F401  libkvfuse_runtime.so needs libtvm_ffi.so loaded.

    # By name for libraries that are loaded later, and its symbols for all of them.
    return ctypes.CDLL(str(find(_RUNTIME)), ctypes.RTLD_GLOBAL)


@functools.cache
def compiler() -> tvm_ffi.Module:
    """The compiler's functions: compile, load, cache_info, cache_clear."""
    import tvm_ffi

    runtime()
    tvm_ffi.register_error("CompileError", CompileError)
    # For one that comes while progress is shown: it passes through the library.
    tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)
    return tvm_ffi.load_module(str(find(_COMPILER)))


@functools.cache
def tensor_call() -> ModuleType:
    """The extension module that calls functions with torch tensors."""
    import tvm_ffi  # noqa: F401  The module needs libtvm_ffi.so loaded.

    spec = importlib.util.spec_from_file_location(
        f"{__package__}.{_TENSOR_CALL}", find(f"{_TENSOR_CALL}.abi3.so")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
