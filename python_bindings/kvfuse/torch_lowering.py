# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How Inductor lowers `kvfuse::write`: as a call, with readers before it computed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .torch_ops import write


@functools.cache
def register_lowering() -> None:
    """Registers it, once. Inductor itself would make the call first and then compute
    the values that it had left to their users, out of what the call has written."""
    # It takes long to import, and is there when a graph is compiled.
    from torch._inductor.lowering import fallback_handler
    from torch._inductor.lowering import register_lowering as register
    from torch._inductor.virtualized import V

    call = fallback_handler(write)

    @register(write, type_promotion_kind=None)
    def lower(function: str, caches: Sequence[Any], *others: Sequence[Any]) -> Any:
        for cache in caches:
            cache.realize()
            V.graph.mark_buffer_mutated(cache.get_name())
        return call(function, caches, *others)
