# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The chain of a layer's cache writes, and kvfuse's kernels for it."""

import dataclasses
import functools
from collections.abc import Callable

import torch

import kvfuse
from kvfuse import _driver
from kvfuse._options import Options
from write_cases import Case, Layer, make_layers

Write = Callable[[Layer], None]

#: Of dependent launch, as in `kvfuse.compile(pdl=)`.
MODES = ("off", "late", "early")


#: The version of a kernel that the report names so.
VECTORS = "16 bytes"


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


def compile_chain(
    case: Case, pdl: str = "off", fuse: str = "required"
) -> kvfuse.Compiled:
    """The compiled chain for any number of tokens and pages."""
    return _compile_chain(dataclasses.replace(case, tokens=4, pages=4), pdl, fuse)


@functools.cache
def _compile_chain(case: Case, pdl: str, fuse: str) -> kvfuse.Compiled:
    example = make_layers(case, count=1)[0].arguments()
    return kvfuse.compile(chain_of(case), example, fuse=fuse, pdl=pdl)


def kvfuse_write(case: Case, pdl: str, fuse: str = "required") -> Write:
    """kvfuse's write, with dependent launch `pdl`. fuse: if "off", a kernel for each
    operation of the chain."""
    compiled = compile_chain(case, pdl, fuse)
    return lambda layer: compiled(*layer.arguments())


def require_vectors(compiled: kvfuse.Compiled) -> None:
    """Raises if a version ran that moves less than 16 bytes at once."""
    ran = {
        version
        for site in compiled.counters()["sites"]
        for version, count in {**site["fused"], "apart": site["fallback"]}.items()
        if count
    }
    if ran != {VECTORS}:
        raise RuntimeError(f"expected the version {VECTORS}, ran {sorted(ran)}")


def kernel_of(compiled: kvfuse.Compiled, tokens: int) -> dict:
    """What the report says of the kernel that writes `tokens` aligned rows."""
    return max(
        (
            kernel
            for kernel in compiled.report["kernels"]
            if kernel.get("branch") == VECTORS and kernel.get("min_tokens", 0) <= tokens
        ),
        key=lambda kernel: kernel.get("min_tokens", 0),
    )


def launch_shape(compiled: kvfuse.Compiled, tokens: int) -> tuple[int, int, int]:
    """Blocks along x and y, and threads of a block, of a write of `tokens` rows."""
    kernel = kernel_of(compiled, tokens)
    blocks = -(-tokens // kernel["tokens_per_thread"])
    return blocks, kernel["blocks_per_token"], kernel["block_size"]


@dataclasses.dataclass(frozen=True)
class ShapedOptions(Options):
    """Options with those of kvfuse-compile that ask for the shape of a kernel."""

    block_size: int | None = None
    tokens_per_thread: int | None = None


def shaped_write(case: Case, block_size: int, tokens_per_thread: int) -> Write:
    """kvfuse's write, with early dependent launch and a shape that is asked for."""
    example = dataclasses.replace(case, tokens=4, pages=4)
    function = _compile_shaped(example, block_size, tokens_per_thread)
    return lambda layer: function(*layer.arguments())


@functools.cache
def _compile_shaped(
    case: Case, block_size: int, tokens_per_thread: int
) -> Callable[..., None]:
    """The compiled chain as a TVM-FFI function."""
    compiled = compile_chain(case, "early")
    options = ShapedOptions(
        **dataclasses.asdict(compiled.options),
        block_size=block_size,
        tokens_per_thread=tokens_per_thread,
    )
    output = _driver.compile(
        compiled.mlir("input"), target=compiled.target, emit="obj", options=options
    )
    return _driver.load(output.data)["main"]


#: Name -> what makes it.
KVFUSE = {f"kvfuse {pdl}": functools.partial(kvfuse_write, pdl=pdl) for pdl in MODES}
SHAPES = {
    f"block {block_size}, {tokens} a thread": functools.partial(
        shaped_write, block_size=block_size, tokens_per_thread=tokens
    )
    for block_size in (32, 64, 96, 128, 256)
    for tokens in (1, 2, 4)
}
