# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches kernels that kvfuse-compile made, through the CUDA driver.

Needs NumPy and the driver's libcuda.so.1, nothing else. A kernel's arguments are
memrefs: allocated pointer, aligned pointer, offset, sizes, strides.
"""

import contextlib
import ctypes
from collections.abc import Iterator, Sequence

import numpy as np

JIT_ERROR_LOG_BUFFER = 5
JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
LOG_BYTES = 8192

#: Most blocks of a kernel that walks over all elements.
MOST_BLOCKS = 1024
PROGRAMMATIC_STREAM_SERIALIZATION = 6

Pointer = ctypes.c_uint64
Dimensions = tuple[int, int, int]


class CudaError(RuntimeError):
    """A failed call of the driver; `name` is the error's, as in CUDA_ERROR_ASSERT."""

    def __init__(self, call: str, name: str, text: str) -> None:
        super().__init__(f"{call}: {name}: {text}")
        self.name = name


def launch_shape(kernel: dict, rows: int, elements: int) -> dict:
    """The grid and the block of `kernel`, an entry of the report.

    rows: the tokens of a write, or rows of the buffers of an elementwise kernel.
    elements: those of one row, over all caches.
    """
    block = kernel["block_size"]
    if kernel["grid"] == "elements":
        blocks = max(1, min(MOST_BLOCKS, -(-rows * elements // block)))
        return {"grid": (blocks, 1, 1), "block": block}
    # Without the count, the kernel takes any: its threads loop.
    per_token = kernel.get("blocks_per_token", max(1, -(-elements // block)))
    tokens = -(-rows // kernel["tokens_per_thread"])
    return {"grid": (tokens, per_token, 1), "block": block}


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute with a number for its value."""

    _fields_ = (
        ("id", ctypes.c_int),
        ("pad", ctypes.c_int),
        ("value", ctypes.c_int),
        ("rest", ctypes.c_char * 60),
    )


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attribute_count", ctypes.c_uint),
    )


def memref_parameters(
    pointer: int, sizes: Sequence[int], strides: Sequence[int]
) -> list:
    """One memref as the kernel parameters that it expands to.

    pointer: the address of its first element, so that its offset is 0.
    sizes, strides: in elements.
    """
    numbers = [0, *sizes, *strides]
    return [Pointer(pointer), Pointer(pointer), *map(ctypes.c_int64, numbers)]


class Device:
    """The first CUDA device, with its primary context made current."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode()

    def call(self, name: str, *arguments) -> None:
        """Calls a function of the driver; raises CudaError if it fails."""
        status = getattr(self.driver, name)(*arguments)
        if status:
            raise CudaError(name, *self.error(status))

    def error(self, status: int) -> tuple[str, str]:
        """Name and description of an error number."""
        texts = []
        for function in (self.driver.cuGetErrorName, self.driver.cuGetErrorString):
            text = ctypes.c_char_p()
            function(status, ctypes.byref(text))
            texts.append((text.value or b"unknown").decode())
        return texts[0], texts[1]

    def load(self, image: bytes) -> ctypes.c_void_p:
        """Loads PTX or a cubin; a compile error carries the driver's log."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(LOG_BYTES)
        names = (JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        options = (ctypes.c_int * 2)(*names)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG_BYTES)
        source = ctypes.create_string_buffer(image)
        try:
            self.call(
                "cuModuleLoadDataEx", ctypes.byref(module), source, 2, options, values
            )
        except CudaError as error:
            raise RuntimeError(f"{error}\n{log.value.decode()}") from error
        return module

    def kernel(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        """The kernel `name` of a loaded module."""
        kernel = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
        return kernel

    def launch(
        self,
        kernel: ctypes.c_void_p,
        grid: Dimensions,
        block: int,
        parameters: Sequence,
        stream: int = 0,
        dependent: bool = False,
    ) -> None:
        """Launches a kernel, without waiting for it.

        stream: its handle; 0 is the default stream.
        dependent: may it start before the kernel in front has ended?
        """
        addresses = [ctypes.addressof(parameter) for parameter in parameters]
        array = (ctypes.c_void_p * len(addresses))(*addresses)
        attribute = LaunchAttribute(PROGRAMMATIC_STREAM_SERIALIZATION, value=1)
        config = LaunchConfig(
            grid,
            (block, 1, 1),
            stream=stream or None,
            attributes=ctypes.pointer(attribute),
            attribute_count=1 if dependent else 0,
        )
        self.call("cuLaunchKernelEx", ctypes.byref(config), kernel, array, None)

    def synchronize(self) -> None:
        """Waits for all launches; raises what went wrong in them."""
        self.call("cuCtxSynchronize")

    @contextlib.contextmanager
    def copies(self, arrays: Sequence[np.ndarray]) -> Iterator[list[int]]:
        """Device addresses of copies of `arrays`, each an allocation of its own size."""
        pointers: list[int] = []
        try:
            for array in arrays:
                pointer = Pointer()
                size = ctypes.c_size_t(array.nbytes)
                self.call("cuMemAlloc_v2", ctypes.byref(pointer), size)
                pointers.append(pointer.value)
                source = ctypes.c_void_p(array.ctypes.data)
                self.call("cuMemcpyHtoD_v2", pointer, source, size)
            yield pointers
        finally:
            for pointer in pointers:
                self.driver.cuMemFree_v2(Pointer(pointer))

    def read(self, pointer: int, array: np.ndarray) -> None:
        """Copies from the device into all of `array`."""
        target, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        self.call("cuMemcpyDtoH_v2", target, Pointer(pointer), size)
