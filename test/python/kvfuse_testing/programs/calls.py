# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls compiled programs."""

import ctypes
import functools
from collections.abc import Sequence

import numpy as np

from ..abi import descriptor_type
from ..cases import View
from .dtypes import ARRAYS
from .inputs import Input

MESSAGE = ("message", ctypes.c_char_p)
LIBC = ctypes.CDLL(None)
LIBC.free.argtypes = [ctypes.c_void_p]


@functools.cache
def results_type(ranks: tuple[int, ...]) -> type[ctypes.Structure]:
    """What a function returns: a descriptor of each rank, and a message."""
    fields = [(f"r{i}", descriptor_type(rank)) for i, rank in enumerate(ranks)]
    return type("Results", (ctypes.Structure,), {"_fields_": [*fields, MESSAGE]})


def describe(view: View, buffer: np.ndarray) -> ctypes.Structure:
    """The descriptor of a view of `buffer`."""
    base = buffer.ctypes.data
    made = descriptor_type(len(view.sizes))(base, base, view.offset)
    if view.sizes:
        made.sizes[:] = view.sizes
        made.strides[:] = view.strides
    return made


def take(descriptor: ctypes.Structure, dtype: str) -> np.ndarray:
    """A copy of the array that a function returned."""
    array = np.dtype(ARRAYS[dtype])
    sizes = list(getattr(descriptor, "sizes", []))
    strides = [s * array.itemsize for s in getattr(descriptor, "strides", [])]
    if 0 in sizes:
        return np.zeros(sizes, array)
    start = descriptor.aligned + descriptor.offset * array.itemsize
    last = (np.array(sizes, int) - 1) @ np.array(strides, int)
    span = array.itemsize + int(last)
    memory = np.frombuffer((ctypes.c_char * span).from_address(start), array, 1)
    return np.lib.stride_tricks.as_strided(memory, sizes, strides).copy()


def call(
    library: ctypes.CDLL, given: Input, buffers: Sequence[np.ndarray]
) -> tuple[str | None, list[np.ndarray]]:
    """Runs the compiled program on `buffers`: its message, and its results."""
    program = given.program
    outputs = [program.types[name] for name in program.outputs()]
    views = [given.views[name] for name in program.arguments]
    arguments = [
        *(ctypes.byref(describe(view, buffers[view.buffer])) for view in views),
        *(ctypes.c_bool(given.flags[flag]) for flag in program.flags),
    ]
    function = getattr(library, f"_mlir_ciface_{program.name}")
    if not outputs:
        function.restype = ctypes.c_char_p
        message = function(*arguments)
        return message and message.decode(), []
    results = results_type(tuple(len(made.dims) for made in outputs))()
    function.restype = None
    function(ctypes.byref(results), *arguments)
    if results.message is not None:
        return results.message.decode(), []
    descriptors = [getattr(results, f"r{i}") for i in range(len(outputs))]
    arrays = [take(d, made.dtype) for d, made in zip(descriptors, outputs, strict=True)]
    for allocated in {descriptor.allocated for descriptor in descriptors}:
        LIBC.free(allocated)
    return None, arrays
