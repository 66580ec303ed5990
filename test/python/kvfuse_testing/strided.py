# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes into caches of any strides: kv IR of them, and what they leave.

The oracle stores row by row into views of a copy of all memory; whole
allocations are compared, with what lies between rows and around the views.
"""

import collections
import dataclasses
import json
import math
from collections.abc import Sequence

import torch

from . import abi
from .branch_counts import COUNT, BranchCounts
from .compile import Compiler, report_path
from .torch_programs import storage

#: Elements before and after a view in its allocation.
GUARD = 64

TYPES = {
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.uint8: "i8",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2: "f8E5M2",
    torch.int32: "i32",
    torch.int64: "i64",
}

#: Layout -> (results of the map of (t, s, h, d), dimension of the page's slots).
MAPS = {
    "nhd": ("s floordiv {page}, s mod {page}, h, d", 1),
    "hnd": ("s floordiv {page}, h, s mod {page}, d", 2),
    "flat": ("s, h, d", None),
}


def strides_of(sizes: Sequence[int]) -> list[int]:
    """Strides of a dense tensor."""
    return [math.prod(sizes[dim + 1 :]) for dim in range(len(sizes))]


def view(
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
    offset: int = 0,
    dtype: torch.dtype = torch.bfloat16,
    seed: int = 0,
) -> torch.Tensor:
    """A view of an allocation that is full of random numbers, `offset` elements
    from an address that is aligned to 64 bytes."""
    strides = strides_of(sizes) if strides is None else strides
    extent = 1 + sum((n - 1) * s for n, s in zip(sizes, strides) if n > 1)
    generator = torch.Generator().manual_seed(seed + extent)
    count = GUARD + offset + extent + GUARD
    whole = torch.randn(count, generator=generator) * 4
    return whole.to(dtype).as_strided(sizes, strides, GUARD + offset)


@dataclasses.dataclass(frozen=True)
class Write:
    """Rows [T, H, D] into a cache that is [B, P, H, D] (nhd), [B, H, P, D] (hnd) or
    [S, H, D] (flat)."""

    cache: torch.Tensor
    rows: torch.Tensor
    layout: str = "nhd"

    @property
    def page(self) -> int | None:
        """Slots of a page."""
        dim = MAPS[self.layout][1]
        return None if dim is None else self.cache.shape[dim]

    def store(self, slot: int, row: torch.Tensor, cache: torch.Tensor) -> None:
        """Puts one row; a slot outside is one too many (SX5)."""
        if self.page is None:
            place = cache[slot]
        elif self.layout == "nhd":
            place = cache[slot // self.page, slot % self.page]
        else:
            place = cache[slot // self.page, :, slot % self.page]
        place.copy_(row.to(cache.dtype))

    def text(self, number: int, slots: str, dynamic: bool) -> str:
        """The operation: %c<number> becomes %n<number>."""
        cache, rows = (
            tensor_type(tensor, dynamic) for tensor in (self.cache, self.rows)
        )
        results = MAPS[self.layout][0].format(page=self.page)
        return (
            f"  %n{number} = kv.write at(%slots : {slots}) negative(wrap)"
            f" out_of_bounds(trap)\n    put %v{number} : {rows} into %c{number} :"
            f" {cache} map(affine_map<(t, s, h, d) -> ({results})>){self.cast()}"
        )

    def cast(self) -> str:
        """The region, if the rows have another type than the cache."""
        source, target = TYPES[self.rows.dtype], TYPES[self.cache.dtype]
        if source == target:
            return ""
        return (
            f" {{\n    ^bb0(%x: {source}):\n"
            f"      %y = kv.cast %x : {source} to {target}\n"
            f"      kv.yield %y : {target}\n    }}"
        )


def tensor_type(tensor: torch.Tensor, dynamic: bool) -> str:
    """The number of pages or tokens is not known, others only if not `dynamic`."""
    sizes = ["?"] + ["?" if dynamic else str(size) for size in tensor.shape[1:]]
    return f"tensor<{'x'.join([*sizes, TYPES[tensor.dtype]])}>"


def module(writes: Sequence[Write], slots: torch.Tensor, dynamic: bool = False) -> str:
    """@main(caches, rows, slots), which does the writes in order."""
    given = tensor_type(slots, dynamic=False)
    arguments, results, types = [], [], []
    for number, write in enumerate(writes):
        types.append(tensor_type(write.cache, dynamic))
        arguments.append(f"%c{number}: {types[-1]} {{bufferization.writable = true}}")
        results.append(f"%n{number}")
    for number, write in enumerate(writes):
        arguments.append(f"%v{number}: {tensor_type(write.rows, dynamic)}")
    body = [write.text(n, given, dynamic) for n, write in enumerate(writes)]
    head = f"func.func @main({', '.join(arguments)}, %slots: {given})"
    return "\n".join(
        [
            f"{head} -> ({', '.join(types)}) {{",
            *body,
            f"  return {', '.join(results)} : {', '.join(types)}",
            "}\n",
        ]
    )


@dataclasses.dataclass(frozen=True)
class Built:
    """A compiled function: which branches run, caches of each launch, names of the
    refusals."""

    library: abi.Library
    counts: BranchCounts
    launches: tuple[int, ...]
    reasons: tuple[str, ...]


def build(compiler: Compiler, text: str, *options: str) -> Built:
    """Compiles a module for the CPU."""
    options = ("--target=cpu", "--emit=shared", "-O0", COUNT, *options)
    output = compiler.compile(text, *options)
    functions = json.loads(report_path(output).read_text())["functions"]
    library = abi.Library(output)
    return Built(
        library,
        BranchCounts(library, output),
        tuple(site["destinations"] for f in functions for site in f["fused"]),
        tuple(site["reason"] for f in functions for site in f["refused"]),
    )


class Memory:
    """Copies of the allocations of some tensors, and the tensors' views of them."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self.copies = {}
        for tensor in tensors:
            key = tensor.untyped_storage().data_ptr()
            if key not in self.copies:
                self.copies[key] = storage(tensor).clone()
        self.views = [
            self.copies[tensor.untyped_storage().data_ptr()]
            .view(tensor.dtype)
            .as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
            for tensor in tensors
        ]

    def same(self, other: "Memory") -> bool:
        """Have both the same bytes?"""
        return all(
            torch.equal(self.copies[key], other.copies[key]) for key in self.copies
        )


def tensors_of(writes: Sequence[Write], slots: torch.Tensor) -> list[torch.Tensor]:
    """The arguments of @main."""
    return [*(w.cache for w in writes), *(w.rows for w in writes), slots]


def expected(writes: Sequence[Write], slots: torch.Tensor) -> Memory:
    """Memory behind the writes, row by row."""
    memory = Memory(tensors_of(writes, slots))
    for number, write in enumerate(writes):
        for slot, row in zip(slots.tolist(), memory.views[len(writes) + number]):
            write.store(slot, row, memory.views[number])
    return memory


def check_call(built: Built, writes: Sequence[Write], slots: torch.Tensor) -> list[str]:
    """One call leaves the bytes of the oracle. The branches that ran."""
    memory = Memory(tensors_of(writes, slots))
    built.counts.take()
    built.library.call("main", *memory.views)
    assert memory.same(expected(writes, slots))
    return [*collections.Counter(built.counts.take()).elements()]


def check(
    compiler: Compiler,
    writes: Sequence[Write],
    slots: Sequence[int],
    *options: str,
    dtype: torch.dtype = torch.int64,
    dynamic: bool = False,
) -> list[str]:
    """Fused, as one launch, and unfused the bytes are those of the oracle. The
    branches that ran when fused."""
    given = torch.tensor(slots, dtype=dtype)
    text = module(writes, given, dynamic)
    fused = build(compiler, text, *options)
    assert (fused.launches, fused.reasons) == ((len(writes),), ())
    taken = check_call(fused, writes, given)
    check_call(build(compiler, text, "--fuse=off"), writes, given)
    return taken
