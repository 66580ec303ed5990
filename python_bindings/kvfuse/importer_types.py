# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the Torch dialect, as text, for what torch traces with."""

from collections.abc import Sequence

import torch

#: The number (c10's ScalarType) and the text of each element type, by torch's name.
_DTYPES = {
    "uint8": (0, "ui8"),
    "int8": (1, "si8"),
    "int16": (2, "si16"),
    "int32": (3, "si32"),
    "int64": (4, "si64"),
    "float16": (5, "f16"),
    "float32": (6, "f32"),
    "float64": (7, "f64"),
    "complex32": (8, "complex<f16>"),
    "complex64": (9, "complex<f32>"),
    "complex128": (10, "complex<f64>"),
    "bool": (11, "i1"),
    "qint8": (12, "!torch.qint8"),
    "quint8": (13, "!torch.quint8"),
    "qint32": (14, "!torch.qint32"),
    "bfloat16": (15, "bf16"),
    "float8_e5m2": (23, "f8E5M2"),
    "float8_e4m3fn": (24, "f8E4M3FN"),
    "float8_e5m2fnuz": (25, "f8E5M2FNUZ"),
    "float8_e4m3fnuz": (26, "f8E4M3FNUZ"),
    "uint16": (27, "ui16"),
    "uint32": (28, "ui32"),
    "uint64": (29, "ui64"),
    "float8_e8m0fnu": (44, "f8E8M0FNU"),
    "float4_e2m1fn_x2": (45, "f4E2M1FN"),
}

INT = "!torch.int"
FLOAT = "!torch.float"
BOOL = "!torch.bool"
NONE = "!torch.none"
STR = "!torch.str"
LIST = "!torch.list<vtensor>"
DEVICE = "!torch.Device"
#: Whatever else a program hands around, such as a graph or a script object.
ANY = "!torch.any"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def dtype_code(dtype: torch.dtype) -> int | None:
    """The number that torch's operations take for `dtype`, None if not known."""
    return _DTYPES.get(_name(dtype), (None,))[0]


def element_type(dtype: torch.dtype) -> str:
    """`bf16`, `si64`, and so on. kvfuse reads no type that is not in the table."""
    return _DTYPES.get(_name(dtype), (None, _name(dtype)))[1]


def is_tensor(type_text: str) -> bool:
    """Is this the type of a tensor?"""
    return type_text.startswith("!torch.vtensor<")


def static_size(size: int | torch.SymInt) -> int | None:
    """A size as a number, None if it is dynamic."""
    return size if isinstance(size, int) else size.node.maybe_as_int()


def tensor_type(sizes: Sequence[int | torch.SymInt], dtype: torch.dtype) -> str:
    """`!torch.vtensor<[?,4,128],bf16>`; a dynamic size is `?`."""
    known = [static_size(size) for size in sizes]
    shape = ",".join("?" if size is None else str(size) for size in known)
    return f"!torch.vtensor<[{shape}],{element_type(dtype)}>"


def value_type(value: object) -> str:
    """The type of a traced value: a (fake) tensor, a symbol, or a Python constant."""
    if isinstance(value, torch.Tensor):
        if value.layout is torch.strided:
            return tensor_type(value.shape, value.dtype)
        # Sparse tensors keep their layout in the type, so that none reads as dense.
        dense = tensor_type(value.shape, value.dtype).removesuffix(">")
        return f"{dense},{str(value.layout).removeprefix('torch.')}>"
    kinds = (
        ((bool, torch.SymBool), BOOL),
        ((int, torch.SymInt), INT),
        ((float, torch.SymFloat), FLOAT),
        (str, STR),
        (type(None), NONE),
        (torch.device, DEVICE),
    )
    return next((text for kind, text in kinds if isinstance(value, kind)), ANY)
