# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small programs on torch tensors, checked fused and unfused against torch eager."""

from collections.abc import Callable, Collection, Sequence

import pytest
import torch

from . import abi, torch_programs
from .compile import Compiler
from .torch_programs import Compiled, Exported

#: Slots of three tokens, page size and number of pages of `cache`.
SLOTS = torch.tensor([2, 9, 14])
PAGE, PAGES = 4, 6

#: Refusals that say that a reader or a writer is not known, which is no fault.
ANALYSIS = frozenset({"opaque-op"})


def rows(*shape: int, dtype=torch.bfloat16, seed: int = 0) -> torch.Tensor:
    """Random rows of moderate size."""
    generator = torch.Generator().manual_seed(seed + 7 * len(shape))
    return torch.randn(shape, generator=generator).to(dtype)


def zeros(*shape: int, dtype=torch.bfloat16) -> torch.Tensor:
    """An empty cache."""
    return torch.zeros(shape).to(dtype)


def cache(heads: int = 2, **options) -> torch.Tensor:
    """A head-major cache [B, H, P, D] that is not empty."""
    return rows(PAGES, heads, PAGE, 8, seed=9, **options)


def values(heads: int = 2, seed: int = 0) -> torch.Tensor:
    """Rows [T, H, D] for SLOTS."""
    return rows(3, heads, 8, seed=seed)


def paged(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    """The chain on a token-major cache [B, P, H, D]."""
    page = cache.shape[1]
    cache[slots // page, slots % page] = values.to(cache.dtype)


def head_major(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    """The chain on a head-major cache [B, H, P, D]."""
    page = cache.shape[2]
    cache[slots // page, :, slots % page] = values.to(cache.dtype)


def compile_function(
    compiler: Compiler,
    function: Callable,
    tensors: Sequence[torch.Tensor],
    *options: str,
    fuse: str = "on",
) -> tuple[Compiled, Exported]:
    """A function through the Torch door."""
    program = torch_programs.export_program(function, tensors)
    exported = torch_programs.import_program(program)
    return torch_programs.compile_exported(compiler, exported, fuse, options), exported


def check(
    compiler: Compiler,
    function: Callable,
    tensors: Sequence[torch.Tensor],
    launches: tuple[int, ...],
    *options: str,
    reasons: Collection[str] = (),
    expected: Callable | None = None,
    caches: Collection[int] | None = None,
) -> Compiled:
    """Compiles `function` fused and unfused, and compares both with `expected`,
    by default itself. Fused there is a kernel for each entry of `launches`, the
    number of caches it writes, and nothing is refused but for `reasons`. `caches`
    are the mutated arguments that are caches, by default all."""
    exported = torch_programs.import_program(
        torch_programs.export_program(function, tensors)
    )
    fused = torch_programs.compile_exported(compiler, exported, "on", options)
    assert not fused.error
    assert fused.launches == launches
    assert set(reasons) <= set(fused.reasons) <= set(reasons) | ANALYSIS
    unfused = torch_programs.compile_exported(compiler, exported, "off", options)
    assert not unfused.error and unfused.launches == ()
    for compiled in (fused, unfused):
        wrong = torch_programs.differences(
            compiled,
            exported,
            expected or function,
            tensors,
            exported.mutated if caches is None else caches,
        )
        assert not wrong
    return fused


def check_bytes(
    compiler: Compiler,
    function: Callable,
    tensors: Sequence[torch.Tensor],
    reasons: Collection[str],
) -> None:
    """The bytes are those of torch, fused and unfused, or the tool stops and names
    one of `reasons`."""
    for fuse in ("on", "off"):
        compiled, exported = compile_function(compiler, function, tensors, fuse=fuse)
        if compiled.error:
            assert any(f"error: {reason}" in compiled.error for reason in reasons)
            continue
        assert not torch_programs.differences(
            compiled, exported, function, tensors, exported.mutated
        )


def check_traps(
    compiler: Compiler,
    function: Callable,
    tensors: Sequence[torch.Tensor],
    valid: Callable,
) -> None:
    """The call fails (SX5). Of the bytes, those of the rows that `valid` writes may
    have been written, and no others."""
    for fuse in ("on", "off"):
        compiled, exported = compile_function(compiler, function, tensors, fuse=fuse)
        got = [torch_programs.guarded(tensor) for tensor in tensors]
        with pytest.raises(abi.KernelError, match="SX5"):
            torch_programs.run(compiled, exported, got)
        want = [torch_programs.guarded(tensor) for tensor in tensors]
        before = [torch_programs.storage(tensor).clone() for tensor in want]
        valid(*want)
        for left, old, new in zip(got, before, want, strict=True):
            left, new = torch_programs.storage(left), torch_programs.storage(new)
            assert bool(((left == old) | (left == new)).all())


def check_refused(
    compiler: Compiler,
    function: Callable,
    tensors: Sequence[torch.Tensor],
    reason: str,
) -> None:
    """kvfuse-compile stops and names the reason (SM5)."""
    for fuse in ("on", "off"):
        compiled, _ = compile_function(compiler, function, tensors, fuse=fuse)
        assert reason in compiled.reasons
        assert f"error: {reason}" in compiled.error
