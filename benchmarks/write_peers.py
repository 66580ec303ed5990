# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other ways to write the caches, and floors, to compare the kernel with.

Each function gives, for a case, what writes a layer; ValueError if it cannot.
"""

import ctypes
import functools
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Mapping

import torch
import triton

import triton_write
from write_cases import HEAD_DIM, Case, Layer, make_layers

HERE = pathlib.Path(__file__).resolve().parent

Write = Callable[[Layer], None]


def write_rows(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Rows [T, H, D] into the pages of cache [B, H, P, D] at slots [T]."""
    page_size = cache.shape[2]
    slots = slots.to(torch.int64)
    page, offset = slots // page_size, slots % page_size
    cache[page, :, offset, :] = rows.to(cache.dtype)


def write_dense(k_cache, v_cache, k, v, slots) -> None:
    """The chain of a layer without index-K."""
    write_rows(k_cache, slots, k)
    write_rows(v_cache, slots, v)


def write_sparse(k_cache, v_cache, index_cache, k, v, index_k, slots) -> None:
    """The chain of a layer with index-K."""
    write_dense(k_cache, v_cache, k, v, slots)
    write_rows(index_cache, slots, index_k)


def chain_of(case: Case) -> Callable[..., None]:
    return write_sparse if case.has_index else write_dense


def kvfuse_write(case: Case, pdl: str) -> Write:
    """The compiled chain, with dependent launch `pdl`: off, late or early."""
    import kvfuse

    small = Case(4, case.heads, case.dtype, case.has_index, 4, case.page_size)
    example = make_layers(small)[0].arguments()
    compiled = kvfuse.compile(chain_of(case), example, fuse="required", pdl=pdl)
    return lambda layer: compiled(*layer.arguments())


def eager_write(case: Case) -> Write:
    """Torch's chain, a kernel for each operation."""
    chain = chain_of(case)
    return lambda layer: chain(*layer.arguments())


def inductor_write(case: Case, combo_kernels: bool) -> Write:
    """The chain compiled by Inductor."""
    torch._dynamo.reset()
    options = {"combo_kernels": combo_kernels}
    compiled = torch.compile(chain_of(case), options=options, dynamic=False)
    return lambda layer: compiled(*layer.arguments())


def triton_plain_write(case: Case) -> Write:
    """The plain kernel of triton_write."""
    if not case.has_index:
        raise ValueError("the kernel writes index-K too")
    return lambda layer: triton_write.write(*layer.arguments())


@functools.cache
def _load_flashinfer() -> ctypes.CDLL:
    """FlashInfer's kernel, compiled from the headers in FLASHINFER_INCLUDE, which
    lists the folders of FlashInfer and of the CCCL that it brings."""
    folders = os.environ.get("FLASHINFER_INCLUDE")
    if not folders:
        raise ValueError("FLASHINFER_INCLUDE does not say where its headers are")
    major, minor = torch.cuda.get_device_capability()
    library = pathlib.Path(tempfile.mkdtemp()) / "append.so"
    command = ["nvcc", "-O3", "-std=c++17", "-shared", "-Xcompiler=-fPIC"]
    command += [f"-arch=sm_{major}{minor}", "--expt-relaxed-constexpr"]
    command += [f"-I{folder}" for folder in folders.split(":")]
    source = HERE / "flashinfer_append.cu"
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))


def flashinfer_write(case: Case) -> Write:
    """FlashInfer's append of K and V, each token a request of its own."""
    if case.has_index or case.dtype != torch.bfloat16:
        raise ValueError("the kernel writes bf16 K and V only")
    append = _load_flashinfer().append
    numbers = torch.arange(case.tokens + 1, dtype=torch.int32, device="cuda")
    plans: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def write(layer: Layer) -> None:
        key = layer.slots.data_ptr()
        if key not in plans:
            pages = layer.slots // case.page_size
            plans[key] = (pages, layer.slots % case.page_size)
        pages, offsets = plans[key]
        tensors = (layer.k_cache, layer.v_cache, layer.k, layer.v)
        tensors += (pages, numbers, numbers, offsets)
        sizes = (case.tokens, case.heads, case.page_size, HEAD_DIM)
        strides = (layer.k_cache.stride(0), layer.k.stride(0))
        status = append(
            *(ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors),
            *(ctypes.c_int64(number) for number in sizes + strides),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )
        if status:
            raise RuntimeError(f"CUDA error {status} in FlashInfer's append")

    return write


def copy_floor(case: Case) -> Write:
    """`copy_` of as many bytes as a write moves, half of them loaded."""
    size = (case.loaded_bytes() + case.stored_bytes()) // 2
    buffers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def write(layer: Layer) -> None:
        key = layer.k.data_ptr()
        if key not in buffers:
            source = torch.zeros(size, dtype=torch.uint8, device="cuda")
            buffers[key] = (torch.empty_like(source), source)
        to, source = buffers[key]
        to.copy_(source)

    return write


@triton.jit
def _empty():
    pass


def empty_floor(case: Case, dependent: bool) -> Write:
    """An empty kernel, one block for each token."""
    grid = (case.tokens,)
    return lambda layer: _empty[grid](num_warps=4, launch_pdl=dependent)


#: Name -> what makes it. Floors leave the caches as they are.
PEERS: Mapping[str, Callable[[Case], Write]] = {
    "kvfuse": functools.partial(kvfuse_write, pdl="off"),
    "kvfuse late": functools.partial(kvfuse_write, pdl="late"),
    "kvfuse early": functools.partial(kvfuse_write, pdl="early"),
    "eager chain": eager_write,
    "Inductor": functools.partial(inductor_write, combo_kernels=False),
    "Inductor combo": functools.partial(inductor_write, combo_kernels=True),
    "plain Triton": triton_plain_write,
    "FlashInfer": flashinfer_write,
}
FLOORS: Mapping[str, Callable[[Case], Write]] = {
    "copy_": copy_floor,
    "empty": functools.partial(empty_floor, dependent=False),
    "empty dependent": functools.partial(empty_floor, dependent=True),
}
