# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program is compiled with: the options of kvfuse-compile."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal, get_args, get_type_hints

Fuse = Literal["on", "off", "required"]
Negative = Literal["wrap", "error", "skip", "undefined"]
OutOfBounds = Literal["trap", "skip", "undefined"]
DependentLaunch = Literal["off", "late", "early"]


@dataclasses.dataclass(frozen=True)
class Options:
    """Options by the names of docs/kvfuse-compile.md; None: as left out there.

    mutates: the arguments that may be written in place (SM5), by number.
    torch_version: whose casts are meant (SC4), "2.13" or "2.11".
    reserved_slot: a slot id whose rows are not written (SX6).
    pdl: when the kernel behind may start (SP3).
    """

    fuse: Fuse = "on"
    mutates: tuple[int, ...] | Literal["auto"] = ()
    torch_version: Literal["2.13", "2.11"] = "2.13"
    negative: Negative | None = None
    out_of_bounds: OutOfBounds | None = None
    reserved_slot: int | None = None
    pdl: DependentLaunch | None = None
    assume_disjoint: bool = False
    assume_aligned: bool = False
    unit_stride_only: bool = False
    no_versioning: bool = False
    keep_callers: bool = False
    count_branches: bool = False

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(Options).items():
            value = getattr(self, name)
            allowed = list(_strings(hint))
            if isinstance(value, str) and value not in allowed:
                expected = ", ".join(allowed) or "no text"
                raise ValueError(f"{name}: expects {expected}, got {value!r}")

    def text(self) -> str:
        """The options as text of MLIR pass options; those left out do not appear."""
        parts = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None or value is False or value == ():
                continue
            if value is True:
                value = "true"
            elif isinstance(value, tuple):
                value = ",".join(map(str, value))
            parts.append(f"{field.name.replace('_', '-')}={value}")
        return " ".join(parts)


def _strings(hint: object) -> Iterator[str]:
    """The strings that a type of `Literal`s allows."""
    for part in get_args(hint):
        if isinstance(part, str):
            yield part
        else:
            yield from _strings(part)
