# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR text in generic form, operation by operation."""

import dataclasses
import functools
import math
import struct
from collections.abc import Mapping, Sequence


#: Bytes that stand for themselves in an MLIR string.
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord('"'), ord("\\")}


@functools.lru_cache(maxsize=1024)
def quote(text: str) -> str:
    """`text` as an MLIR string."""
    parts = (chr(b) if b in _PLAIN else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(parts)}"'


def float_attribute(value: float) -> str:
    """A double, exactly."""
    if math.isfinite(value):
        return f"{value:.17e} : f64"
    return f"0x{struct.pack('>d', value).hex().upper()} : f64"


@dataclasses.dataclass(frozen=True)
class Value:
    """An SSA value."""

    name: str
    type: str


class Block:
    """The operations of a function."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def add(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[str],
        location: str,
        attributes: Mapping[str, str] | None = None,
        mark: str = "",
    ) -> list[Value]:
        """Adds an operation; `results` are types, `attributes` MLIR text. `mark` is a
        unit attribute of somebody else's dialect."""
        names = [f"%{self._count}"]
        left = ""
        if results:
            left = names[0] if len(results) == 1 else f"{names[0]}:{len(results)}"
            left += " = "
            self._count += 1
        if len(results) != 1:
            names = [f"{names[0]}#{i}" for i in range(len(results))]
        properties = ""
        if attributes:
            pairs = ", ".join(f"{key} = {text}" for key, text in attributes.items())
            properties = f" <{{{pairs}}}>"
        inputs = ", ".join(value.name for value in operands)
        marked = f" {{{mark}}}" if mark else ""
        takes = ", ".join(value.type for value in operands)
        gives = results[0] if len(results) == 1 else f"({', '.join(results)})"
        self._lines.append(
            f"    {left}{quote(name)}({inputs}){properties}{marked} : "
            f"({takes}) -> {gives} {location}"
        )
        return [Value(*pair) for pair in zip(names, results, strict=True)]

    def opaque(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[str],
        location: str,
        attributes: Mapping[str, str] | None = None,
        mark: str = "",
    ) -> list[Value]:
        """Adds an operation that is no operation of the Torch dialect."""
        attributes = {"name": quote(name), **(attributes or {})}
        return self.add("torch.operator", operands, results, location, attributes, mark)

    def text(self) -> str:
        """The operations, one a line."""
        return "\n".join(self._lines)


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a function: its name in the model code and its type."""

    name: str
    type: str
    location: str


def module_text(
    name: str, arguments: Sequence[Argument], results: Sequence[Value], block: Block
) -> str:
    """A module with one function, whose arguments say their names (`kv.name`)."""
    takes = ", ".join(argument.type for argument in arguments)
    gives = ", ".join(value.type for value in results)
    names = ", ".join(f"{{kv.name = {quote(a.name)}}}" for a in arguments)
    attributes = f", arg_attrs = [{names}]" if arguments else ""
    header = ", ".join(
        f"%arg{i}: {argument.type} {argument.location}"
        for i, argument in enumerate(arguments)
    )
    entry = f"  ^bb0({header}):\n" if arguments else ""
    returned = Block()
    returned.add("func.return", results, [], "loc(unknown)")
    body = "\n".join(filter(None, (block.text(), returned.text())))
    return (
        '"builtin.module"() ({\n'
        f'  "func.func"() <{{sym_name = {quote(name)}, '
        f"function_type = ({takes}) -> ({gives}){attributes}}}> ({{\n"
        f"{entry}{body}\n"
        "  }) : () -> ()\n"
        "}) : () -> ()\n"
    )
