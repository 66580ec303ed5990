# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of operations: constants, lists, and numbers that stand for tensors."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import importer_types as types
from .importer_text import Block, Value, float_attribute, quote

#: The numbers of torch's layouts and memory formats, as its operations take them.
_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "mkldnn", "sparse_csc")
_LAYOUTS += ("sparse_bsr", "sparse_bsc", "_mkldnn", "jagged")
_MEMORY_FORMATS = (
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
)


def _enumerator(value: Any) -> int | None:
    """The number of a dtype, layout or memory format, None for anything else."""
    if isinstance(value, torch.dtype):
        return types.dtype_code(value)
    name = str(value).removeprefix("torch.")
    if isinstance(value, torch.layout) and name in _LAYOUTS:
        return _LAYOUTS.index(name)
    if isinstance(value, torch.memory_format) and name in _MEMORY_FORMATS:
        return _MEMORY_FORMATS.index(name)
    return None


def _literal_text(tensor: torch.Tensor) -> str:
    """A dense tensor as a `dense<...>` attribute."""
    element = types.element_type(tensor.dtype)
    shape = "".join(f"{size}x" for size in tensor.shape)
    data = tensor.detach().cpu().contiguous()
    if data.dtype is torch.bool or not data.is_floating_point():
        elements = str(data.tolist()).lower()
    else:
        # The bytes, so that every bit is kept.
        data = data.reshape(-1).view(torch.uint8)
        elements = f'"0x{bytes(data.tolist()).hex().upper()}"'
    return f"dense<{elements}> : tensor<{shape}{element}>"


class Operands:
    """Writes what operations take into a block."""

    def __init__(self, block: Block, resolve: Callable[[torch.fx.Node], Value]) -> None:
        self._block = block
        self._resolve = resolve

    def constant(self, value: Any, location: str) -> Value:
        """A Python constant or a tensor that is known."""
        if isinstance(value, torch.Tensor):
            text, kind = _literal_text(value), types.value_type(value)
            return self._one("torch.vtensor.literal", kind, location, text)
        number = _enumerator(value)
        value = value if number is None else number
        kind = types.value_type(value)
        if kind == types.INT and not -(2**63) <= value < 2**63:
            kind = types.ANY
        if kind == types.NONE:
            return self._one("torch.constant.none", kind, location)
        texts = {
            types.BOOL: lambda: ("bool", "true" if value else "false"),
            types.INT: lambda: ("int", f"{value} : i64"),
            types.FLOAT: lambda: ("float", float_attribute(value)),
            types.STR: lambda: ("str", quote(value)),
            # Without its number: ranks with a GPU each compile one text.
            types.DEVICE: lambda: ("device", quote(value.type)),
        }
        if kind not in texts:
            attributes = {"value": quote(repr(value))}
            name = "torch.constant.object"
            return self._block.opaque(name, [], [kind], location, attributes)[0]
        name, text = texts[kind]()
        return self._one(f"torch.constant.{name}", kind, location, text)

    def _one(
        self, name: str, kind: str, location: str, text: str | None = None
    ) -> Value:
        attributes = {} if text is None else {"value": text}
        (value,) = self._block.add(name, [], [kind], location, attributes)
        return value

    def convert(self, actual: Any, location: str, formal: str = "") -> Value:
        """An argument of a call; `formal` is the type that the schema says."""
        if isinstance(actual, torch.fx.Node):
            return self._adapt(self._resolve(actual), location, formal)
        if isinstance(actual, dict):
            pairs = [part for pair in actual.items() for part in pair]
            return self._sequence("torch.prim.DictConstruct", pairs, location)
        if isinstance(actual, slice):
            parts = [actual.start, actual.stop, actual.step]
            return self._sequence("torch.prim.SliceConstruct", parts, location)
        if isinstance(actual, (list, tuple)):
            return self._list(actual, location, formal)
        return self._adapt(self.constant(actual, location), location, formal)

    def _adapt(self, value: Value, location: str, formal: str) -> Value:
        """Numbers for tensors, and truth values for numbers, as in TorchScript."""
        if formal.removeprefix("Optional[").startswith("Tensor"):
            return self._to_tensor(value, location)
        if formal in ("number", "Scalar") and value.type == types.BOOL:
            operands = [value]
            name = "torch.aten.Int.bool"
            return self._block.add(name, operands, [types.INT], location)[0]
        return value

    def _to_tensor(self, value: Value, location: str) -> Value:
        dtype = {
            types.INT: torch.int64,
            types.FLOAT: torch.get_default_dtype(),
            types.BOOL: torch.bool,
        }.get(value.type)
        if dtype is None:
            return value
        kind = types.tensor_type((), dtype)
        name = "torch.prim.NumToTensor.Scalar"
        return self._block.add(name, [value], [kind], location)[0]

    def _sequence(self, name: str, parts: Sequence[Any], location: str) -> Value:
        values = [self.convert(part, location) for part in parts]
        return self._block.opaque(name, values, [types.ANY], location)[0]

    def _list(self, parts: Sequence[Any], location: str, formal: str) -> Value:
        values = [self.convert(part, location) for part in parts]
        kind = _list_type([value.type for value in values], formal)
        name = "torch.prim.ListConstruct"
        return self._block.add(name, values, [kind], location)[0]


def _list_type(elements: Sequence[str], formal: str) -> str:
    """`!torch.list<vtensor>`, or `!torch.list<optional<vtensor>>` where the schema
    or an element says that one may be absent."""
    names = {
        "vtensor" if types.is_tensor(kind) else kind.removeprefix("!torch.")
        for kind in elements
    }
    absent = "none" in names or "List[Optional[" in formal
    names.discard("none")
    name = names.pop() if len(names) == 1 else "any" if names else _element(formal)
    return f"!torch.list<{f'optional<{name}>' if absent else name}>"


def _element(formal: str) -> str:
    """The element type of an empty list."""
    return "vtensor" if "Tensor" in formal else "float" if "float" in formal else "int"
