# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with torch tensors alone, which cost little more than the function itself.

Their checks are written out for a number of tensors, as source text: loops over seven
tensors take twice the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

_SOURCE = """
def __call__(self, *args, **kwargs):
    if len(args) == {count} and not kwargs:
        {names} = args
        if {types} is Tensor and not (is_grad_enabled() and ({require_grad})):
            return direct(*args)
    return general(args, kwargs)
"""


def make_method(
    count: int,
    direct: Callable[..., Any],
    general: Callable[[tuple[Any, ...], Mapping[str, Any]], Any],
) -> Callable[..., Any]:
    """A `__call__` that passes `count` >= 1 plain tensors on to `direct`.

    All else goes to `general`: other numbers of arguments, other types, subclasses of
    torch.Tensor, arguments by name, and tensors that require grad where that matters.
    """
    names = [f"a{number}" for number in range(count)]
    source = _SOURCE.format(
        count=count,
        names="".join(f"{name}, " for name in names),
        types=" is ".join(f"type({name})" for name in names),
        require_grad=" or ".join(f"{name}.requires_grad" for name in names),
    )
    namespace: dict[str, Any] = {
        "Tensor": torch.Tensor,
        "is_grad_enabled": torch.is_grad_enabled,
        "direct": direct,
        "general": general,
    }
    exec(compile(source, "<call of tensors>", "exec"), namespace)  # noqa: S102
    return namespace["__call__"]
