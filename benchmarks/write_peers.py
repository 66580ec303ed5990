# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other ways to write the caches, and floors, to compare the kernel with.

Each function gives, for a case, what writes a layer, or raises
NotMeasuredError.
"""

import functools
from collections.abc import Callable, Mapping

import torch

import cuda_library
from write_cases import HEAD_DIM, LAYERS, Case, Layer, NotMeasuredError, inductor_cases
from write_kvfuse import MODES, Write, chain_of, compile_chain, launch_shape


def eager_write(case: Case) -> Write:
    """Torch's chain, a kernel for each operation."""
    chain = chain_of(case)
    return lambda layer: chain(*layer.arguments())


def inductor_write(case: Case, combo_kernels: bool) -> Write:
    """The chain compiled by Inductor, with all sizes known to it."""
    if case not in set(inductor_cases()):
        raise NotMeasuredError("not measured: a compilation takes seconds")
    options = {"combo_kernels": combo_kernels}
    compiled = torch.compile(chain_of(case), options=options, dynamic=False)
    return lambda layer: compiled(*layer.arguments())


def triton_plain_write(case: Case) -> Write:
    """The plain kernel of triton_write."""
    import triton_write

    def write(layer: Layer) -> None:
        triton_write.write(
            layer.k_cache,
            layer.v_cache,
            layer.index_cache,
            layer.k,
            layer.v,
            layer.index_k,
            layer.slots,
        )

    return write


def flashinfer_write(case: Case) -> Write:
    """FlashInfer's append of K and V, each token a request of its own: its page and
    its position there are computed ahead of time."""
    if case.has_index or case.dtype != torch.bfloat16:
        raise NotMeasuredError("the kernel writes bf16 K and V only")
    append = cuda_library.flashinfer_append()
    requests = torch.arange(case.tokens + 1, dtype=torch.int32, device="cuda")
    places: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def write(layer: Layer) -> None:
        slots = layer.slots
        key = slots.data_ptr()
        if key not in places:
            places[key] = (slots // case.page_size, slots % case.page_size)
        pages, positions = places[key]
        append(
            *(layer.k_cache, layer.v_cache, layer.k, layer.v),
            *(pages, requests, requests, positions),
            *(case.tokens, case.heads, case.page_size, HEAD_DIM),
            *(layer.k_cache.stride(0), layer.k.stride(0)),
        )

    return write


def copy_floor(
    case: Case, copy: Callable[[torch.Tensor, torch.Tensor], object]
) -> Write:
    """`copy` of as many bytes as a write moves, half of them loaded, from its first
    argument to its second; each layer has bytes of its own."""
    size = (case.loaded_bytes() + case.stored_bytes()) // 2
    # All of them now: what is allocated under capture is filled by each replay.
    pairs = iter([_make_pair(size) for _ in range(LAYERS)])
    pairs_of: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def write(layer: Layer) -> None:
        key = layer.k.data_ptr()
        if key not in pairs_of:
            pairs_of[key] = next(pairs)
        copy(*pairs_of[key])

    return write


def copy_bytes(source: torch.Tensor, to: torch.Tensor) -> None:
    """The driver's copy: torch launches no kernel for tensors that are dense."""
    to.copy_(source)


def copy_by_kernel(source: torch.Tensor, to: torch.Tensor) -> None:
    """An elementwise kernel of torch, which loads and stores 16 bytes at once."""
    torch.bitwise_not(source, out=to)


def _make_pair(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Bytes to copy, and others to copy to."""
    source = torch.randint(2**40, (size // 8,), dtype=torch.int64, device="cuda")
    return source, torch.empty_like(source)


def empty_floor(case: Case, pdl: str) -> Write:
    """An empty kernel with the grid and block of kvfuse's, launched as that is."""
    shape = launch_shape(compile_chain(case, pdl), case.tokens)
    launch = cuda_library.empty_kernel()
    return lambda layer: launch(*shape, MODES.index(pdl), 1)


#: Name -> what makes it, but for kvfuse.
PEERS: Mapping[str, Callable[[Case], Write]] = {
    "eager chain": eager_write,
    "Inductor": functools.partial(inductor_write, combo_kernels=False),
    "Inductor combo": functools.partial(inductor_write, combo_kernels=True),
    "plain Triton": triton_plain_write,
    "FlashInfer": flashinfer_write,
}
#: These leave the caches as they are.
FLOORS: Mapping[str, Callable[[Case], Write]] = {
    "copy_": functools.partial(copy_floor, copy=copy_bytes),
    "elementwise": functools.partial(copy_floor, copy=copy_by_kernel),
    **{f"empty {pdl}": functools.partial(empty_floor, pdl=pdl) for pdl in MODES},
}
