# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that are not torch tensors as they lie in memory: NumPy arrays on the CPU,
JAX arrays to read, torch tensors that are the negative of what lies there.

NumPy's DLPack knows neither the types of ml_dtypes (bfloat16, float8) nor arrays
that may only be read, so a DLPack tensor is made over the array's memory here.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import tvm_ffi

if TYPE_CHECKING:
    import numpy

_CPU = 1  # kDLCPU
_VERSION = (1, 0)
_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _ManagedTensor(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# A prototype of its own: pythonapi.PyCapsule_New is everybody's, argtypes included.
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_CAPSULE_NAME = b"dltensor_versioned"

#: Arrays that tensors lie over, with the tensors' own memory, by its address.
_alive: dict[int, tuple[_ManagedTensor, numpy.ndarray]] = {}


@_Deleter
def _release(address: int) -> None:
    _alive.pop(address, None)


def passable(argument: Any, name: str, written: bool) -> Any:
    """`argument` as TVM-FFI takes it; `name` is for messages.

    written: the function writes it in place.
    """
    if _is_a(argument, "numpy", "ndarray"):
        if written and not argument.flags.writeable:
            raise ValueError(f"argument {name!r} is written in place, and is read-only")
        return _from_numpy(argument, name)
    if _is_a(argument, "torch", "Tensor") and argument.is_neg():
        if written:
            raise ValueError(
                f"argument {name!r} is written in place, and has torch's negative bit, "
                "which kernels do not see"
            )
        return argument.resolve_neg()
    if written and _is_a(argument, "jax", "Array"):
        raise TypeError(
            f"argument {name!r} is written in place, and JAX arrays are immutable: call "
            "kvfuse.jax.function(compiled)"
        )
    return argument


def _from_numpy(array: numpy.ndarray, name: str) -> tvm_ffi.Tensor:
    size = array.dtype.itemsize
    if any(stride < 0 or stride % size for stride in array.strides):
        raise ValueError(
            f"argument {name!r}: expects strides of whole elements, not negative, got "
            f"{array.strides} bytes for elements of {size}"
        )
    try:
        dtype = tvm_ffi.dtype(str(array.dtype))
    except ValueError as error:
        raise TypeError(
            f"argument {name!r}: no kernel takes elements of type {array.dtype}"
        ) from error
    index = ctypes.c_int64 * array.ndim
    managed = _ManagedTensor(
        version=_VERSION,
        deleter=ctypes.cast(_release, ctypes.c_void_p),
        flags=0 if array.flags.writeable else _READ_ONLY,
        tensor=_Tensor(
            data=array.ctypes.data,
            device_type=_CPU,
            ndim=array.ndim,
            type_code=dtype.type_code,
            type_bits=dtype.bits,
            type_lanes=dtype.lanes,
            shape=index(*array.shape),
            strides=index(*(stride // size for stride in array.strides)),
        ),
    )
    address = ctypes.addressof(managed)
    _alive[address] = managed, array
    return tvm_ffi.from_dlpack(_new_capsule(address, _CAPSULE_NAME, None))


def _is_a(value: Any, package: str, name: str) -> bool:
    """Is `value` of a class of a package that may not be there?"""
    module = sys.modules.get(package)
    return module is not None and isinstance(value, getattr(module, name))
