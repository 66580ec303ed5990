# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of writes, views and readers through the importer."""

import dataclasses
from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kvfuse import importer
from kvfuse_testing import imports, torch_programs
from torch.fx.experimental.proxy_tensor import make_fx

PAGES, PAGE, HEADS, DIM = 3, 4, 2, 8
#: How a pool [2, B, P, H, D] gives keys and values.
VIEWS: dict[str, Callable] = {
    "select": lambda pool: (pool[0], pool[1]),
    "unbind": lambda pool: pool.unbind(0),
    "chunk": lambda pool: [part.squeeze(0) for part in pool.chunk(2)],
    "slice": lambda pool: (pool[:1].squeeze(0), pool[1:].view(pool.shape[1:])),
}


def paged(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    cache[slots // PAGE, slots % PAGE] = values


def head_major(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    cache.transpose(1, 2)[slots // PAGE, :, slots % PAGE] = values


def flat(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    cache.view(-1, HEADS, DIM).index_put_((slots,), values)


def copied(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    cache.flatten(0, 1).index_copy_(0, slots, values)


def added(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    cache.index_put_((slots // PAGE, slots % PAGE), values, accumulate=True)


def whole(cache: torch.Tensor, slots: torch.Tensor, values: torch.Tensor) -> None:
    cache.mul_(2)


WRITES = (paged, head_major, flat, copied, added, whole)


@dataclasses.dataclass(frozen=True)
class Program:
    """Steps on keys and values: (write, which of both) or ("read", which)."""

    view: str
    dtype: torch.dtype
    steps: tuple[tuple[Callable | str, int], ...]
    reads_pool: bool

    def __call__(self, pool, slots, values):
        caches = VIEWS[self.view](pool)
        results = []
        for step, number in self.steps:
            cache = caches[number]
            if step == "read":
                results.append(cache[slots // PAGE].float().sum())
            else:
                step(cache, slots, (values * (1 + number)).to(cache.dtype))
        if self.reads_pool:
            results.append(pool + 1)
        return results or None

    def arguments(self) -> list[torch.Tensor]:
        """A pool of numbers, slots that differ, and rows."""
        generator = torch.Generator().manual_seed(len(self.steps))
        shape = (2, PAGES, PAGE, HEADS, DIM)
        pool = torch.randn(shape, generator=generator).to(self.dtype)
        slots = torch.randperm(PAGES * PAGE, generator=generator)[:5]
        return [pool, slots, torch.randn((5, HEADS, DIM), generator=generator)]


PROGRAMS = st.builds(
    Program,
    view=st.sampled_from(sorted(VIEWS)),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    steps=st.lists(
        st.tuples(st.sampled_from([*WRITES, "read"]), st.integers(0, 1)),
        min_size=1,
        max_size=5,
    ).map(tuple),
    reads_pool=st.booleans(),
)


def check_bytes(compiler, program: Program, imported: importer.Imported) -> int:
    """The bytes are those of eager; how many writes were fused is returned."""
    exported = imports.as_exported(imported)
    compiled = torch_programs.compile_exported(compiler, exported)
    if compiled.error:
        # A write that would need a copy of the cache stops the tool.
        assert "old-cache-live" in compiled.error or "cache-copied" in compiled.error
        return 0
    tensors = program.arguments()
    # Where an operation of torch makes a cache anew, it is not in its place.
    assert not torch_programs.differences(compiled, exported, program, tensors, ())
    return sum(compiled.launches)


@pytest.mark.parametrize("seen", ["export", "graph"])
def test_bytes_of_random_programs(compiler, seen):
    fused = []

    @settings(
        max_examples=10,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(program=PROGRAMS)
    def run(program: Program) -> None:
        tensors = program.arguments()
        if seen == "export":
            source = torch_programs.export_program(program, tensors)
        else:
            source = make_fx(program, tracing_mode="fake")(*tensors)
        imported = importer.to_mlir(source)
        writes = any(step != "read" for step, _ in program.steps)
        assert imported.mutates == ((0,) if writes else ())
        fused.append(check_bytes(compiler, program, imported))

    run()
    # The programs are not all refused.
    assert sum(map(bool, fused)) > len(fused) // 4
