# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA C++ of this folder as libraries: other people's kernels, and an empty one."""

import ctypes
import functools
import os
import pathlib
import subprocess
import tempfile

import torch

from write_cases import NotMeasuredError

HERE = pathlib.Path(__file__).resolve().parent


class CudaError(RuntimeError):
    """A call into a library that came back with a CUDA error."""


class CudaFunction:
    """A C function of tensors, then numbers, then the stream, which returns a CUDA
    error."""

    def __init__(self, function: "ctypes._NamedFuncPointer") -> None:
        self._function = function

    def __call__(self, *arguments: torch.Tensor | int) -> None:
        """Calls it on the current stream."""
        passed = [
            ctypes.c_void_p(argument.data_ptr())
            if isinstance(argument, torch.Tensor)
            else ctypes.c_int64(argument)
            for argument in arguments
        ]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if status := self._function(*passed, stream):
            raise CudaError(f"CUDA error {status} in {self._function.__name__}")


def compile_library(
    source: str, architecture: str, folders: tuple[str, ...], library: pathlib.Path
) -> None:
    """Compiles `source` for an architecture such as sm_90, with nvcc from the PATH and
    headers in `folders`."""
    command = ["nvcc", "-O3", "-std=c++17", "-shared", "-Xcompiler=-fPIC"]
    command += [f"-arch={architecture}", "--expt-relaxed-constexpr"]
    command += [f"-I{folder}" for folder in folders]
    subprocess.run([*command, "-o", str(library), str(HERE / source)], check=True)


def load(source: str, name: str, folders: tuple[str, ...] = ()) -> CudaFunction:
    """Function `name` of a CUDA C++ file of this folder."""
    major, minor = torch.cuda.get_device_capability()
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "library.so")
        compile_library(source, f"sm_{major}{minor}", folders, library)
        return CudaFunction(getattr(ctypes.CDLL(str(library)), name))


@functools.cache
def empty_kernel() -> CudaFunction:
    """(grid x, grid y, block size, mode, launches): mode 0 is off, 1 late, 2 early."""
    return load("empty_kernel.cu", "launch_empty")


@functools.cache
def flashinfer_append() -> CudaFunction:
    """FlashInfer's kernel, compiled from the headers in FLASHINFER_INCLUDE, which
    lists the folders of FlashInfer and of the CCCL that it brings."""
    folders = os.environ.get("FLASHINFER_INCLUDE")
    if not folders:
        raise NotMeasuredError("FLASHINFER_INCLUDE does not say where headers are")
    return load("flashinfer_append.cu", "append", tuple(folders.split(":")))
