# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with torch tensors alone, which cost little more than the function itself.

They go through Python functions that are written out, as source text, for the names
of their parameters: loops over seven tensors, and tuples and dictionaries of
arguments, take twice the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

#: Names begin so that no parameter of a program hides them.
_SOURCE = """
def call({parameters}):
    if {types} is _kvfuse_Tensor{left_out} and not (
        _kvfuse_is_grad_enabled() and ({require_grad})
    ):
        return _kvfuse_direct({tensors})
    return _kvfuse_general(({tensors},), {others})
"""


class _LeftOut:
    """The value of a parameter that a call gives none for."""

    def __repr__(self) -> str:
        return "..."


_LEFT_OUT = _LeftOut()


def make_function(
    tensors: Sequence[str],
    others: Sequence[str],
    direct: Callable[..., Any],
    general: Callable[[tuple[Any, ...], Mapping[str, Any]], Any],
    by_name: bool,
) -> Callable[..., Any]:
    """A function that passes plain tensors on to `direct`, and all else to `general`:
    values for `others`, other types, subclasses of torch.Tensor, and tensors that
    require grad where autograd records.

    tensors, others: names of parameters, one tensor or more; others may be left out.
    by_name: may arguments be passed by name?
    """
    passed = ", ".join(f"{other!r}: {other}" for other in others)
    given = f"{{k: v for k, v in {{{passed}}}.items() if v is not _kvfuse_left_out}}"
    source = _SOURCE.format(
        parameters=", ".join(
            [
                *tensors,
                *([] if by_name else ["/"]),
                *(f"{other}=_kvfuse_left_out" for other in others),
            ]
        ),
        types=" is ".join(f"_kvfuse_type({tensor})" for tensor in tensors),
        left_out="".join(f" and {other} is _kvfuse_left_out" for other in others),
        require_grad=" or ".join(f"{tensor}.requires_grad" for tensor in tensors),
        tensors=", ".join(tensors),
        others=given if others else {},
    )
    namespace: dict[str, Any] = {
        "_kvfuse_type": type,
        "_kvfuse_Tensor": torch.Tensor,
        "_kvfuse_left_out": _LEFT_OUT,
        "_kvfuse_is_grad_enabled": torch.is_grad_enabled,
        "_kvfuse_direct": direct,
        "_kvfuse_general": general,
    }
    exec(compile(source, "<call of tensors>", "exec"), namespace)  # noqa: S102
    return namespace["call"]
