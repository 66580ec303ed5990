# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paged KV-cache writes of a program as one kernel each.

`import kvfuse` loads nothing: torch, JAX and the compiler's library come in with
the first name that needs them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from ._cache import cache_clear, cache_info
    from ._compile import compile
    from ._compiled import Compiled
    from ._library import CompileError
    from .prewritten import Part, PrewrittenLayers

__all__ = [
    "CompileError",
    "Compiled",
    "Part",
    "PrewrittenLayers",
    "__version__",
    "cache_clear",
    "cache_info",
    "compile",
]

#: Where each public name is defined, and the modules that are public themselves.
_NAMES = {
    "compile": "_compile",
    "Compiled": "_compiled",
    "cache_clear": "_cache",
    "cache_info": "_cache",
    "CompileError": "_library",
    "Part": "prewritten",
    "PrewrittenLayers": "prewritten",
}
_MODULES = ("torch", "jax")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
