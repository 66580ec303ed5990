# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls functions of a compiled shared library with torch tensors.

A function f of the module is `const char *_mlir_ciface_f(Desc *, ...)`, one
pointer to a strided memref descriptor for each tensor, scalars by value; it
returns null, or a message.
"""

import ctypes
import functools
import os
import pathlib

import torch

from .compile import find_compiler

#: Scalar arguments by their Python type.
SCALARS = {
    float: ctypes.c_float,
    bool: ctypes.c_bool,
    int: ctypes.c_int64,
    ctypes.c_uint16: lambda bits: bits,
}


class KernelError(RuntimeError):
    """The message that a compiled function returned."""


@functools.cache
def descriptor_type(rank: int) -> type[ctypes.Structure]:
    """The memref descriptor of `rank`; offset and strides are in elements."""
    fields = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    ]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"Memref{rank}", (ctypes.Structure,), {"_fields_": fields})


def descriptor(tensor: torch.Tensor) -> ctypes.Structure:
    """Describes `tensor` as a view of its storage, whose base is `aligned`."""
    base = tensor.untyped_storage().data_ptr()
    made = descriptor_type(tensor.dim())(base, base, tensor.storage_offset())
    if tensor.dim():
        made.sizes[:] = tensor.shape
        made.strides[:] = tensor.stride()
    return made


def passed(argument: torch.Tensor | float | ctypes.c_uint16 | ctypes.Structure):
    """`argument` as the C interface takes it."""
    if type(argument) in SCALARS:
        return SCALARS[type(argument)](argument)
    if isinstance(argument, torch.Tensor):
        argument = descriptor(argument)
    return ctypes.byref(argument)


@functools.cache
def load_runtime() -> ctypes.CDLL:
    """Loads kvfuse's runtime from the folder KVFUSE_LIB_DIR, or lib beside bin.

    Shared libraries name it without a path, and find it where it is loaded.
    """
    folder = pathlib.Path(
        os.environ.get("KVFUSE_LIB_DIR", find_compiler().parents[1] / "lib")
    )
    return ctypes.CDLL(str(folder / "libkvfuse_runtime.so"))


class Library:
    """A loaded shared library made by `kvfuse-compile --emit=shared`."""

    def __init__(self, path: pathlib.Path) -> None:
        load_runtime()
        self.library = ctypes.CDLL(str(path))

    def call(
        self,
        name: str,
        *arguments: torch.Tensor | float | ctypes.c_uint16 | ctypes.Structure,
    ) -> None:
        """Calls function `name`; raises KernelError with its message if it fails.

        A Python float is an f32 argument, a bool an i1 and an int an index. The
        bits of a 16-bit float come as a uint16. A structure is a descriptor.
        """
        function = getattr(self.library, f"_mlir_ciface_{name}")
        function.restype = ctypes.c_char_p
        message = function(*map(passed, arguments))
        if message is not None:
            raise KernelError(message.decode())
